package machine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/etcd"
)

// randomWorld is a cluster, its machines, and its etcd as it was last reported and is.
type randomWorld struct {
	cluster  *v1alpha1.TalosCluster // nil where it is gone
	machines []v1alpha1.TalosMachine
	members  []guard.Member
}

func (w *randomWorld) String() string {
	return fmt.Sprintf("cluster %+v\nmachines %+v\nmembers %+v", w.cluster, w.machines, w.members)
}

// Get and List are those of the API server.
func (w *randomWorld) Get(_ context.Context, _, _, _ string) (map[string]any, bool, error) {
	if w.cluster == nil {
		return nil, false, nil
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.cluster)
	return m, true, err
}

func (w *randomWorld) List(context.Context, string, string) (out []any, err error) {
	for i := range w.machines {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&w.machines[i])
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func (w *randomWorld) cycle(engine *cel.Engine) *cycle {
	m := w.machines[0].DeepCopy()
	c := &cycle{
		Reconciler: &Reconciler{Judge: engine, Objects: w, Log: logr.Discard()},
		machine:    m, read: m.DeepCopy(), cluster: w.cluster, machines: w.machines,
	}
	if w.cluster != nil && w.cluster.DeletionTimestamp == nil {
		c.view = &etcd.View{Members: w.members}
	}
	return c
}

func newRandomWorld(r *rand.Rand) *randomWorld {
	w := &randomWorld{members: randomMembers(r)}
	for i := range 1 + r.IntN(6) {
		w.machines = append(w.machines, randomMachine(r, i, w.members))
	}
	if r.IntN(20) == 0 {
		return w
	}
	w.cluster = &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "quay", Namespace: "default"}}
	w.cluster.Spec.ControlPlane.Count = []int32{1, 1, 3, 5}[r.IntN(4)]
	if r.IntN(20) == 0 {
		w.cluster.DeletionTimestamp = &metav1.Time{Time: time.Unix(1800000000, 0)}
	}
	for _, m := range w.members {
		role := v1alpha1.RoleVoter
		if m.Learner {
			role = v1alpha1.RoleLearner
		}
		w.cluster.Status.Members = append(w.cluster.Status.Members, v1alpha1.EtcdMember{
			Name: m.Name, ID: v1alpha1.HexID(hexOf(m.ID)), Role: role, Started: m.Started, Leader: m.Leader, Healthy: m.Healthy,
		})
	}
	return w
}

// randomMembers has a voter at least, as every list has.
func randomMembers(r *rand.Rand) (out []guard.Member) {
	for i := range 1 + r.IntN(6) {
		m := guard.Member{ID: uint64(i + 1), PeerURLs: []string{peerOf(i)}, Learner: i > 0 && r.IntN(6) == 0, Started: r.IntN(8) > 0}
		m.Healthy = m.Started && r.IntN(5) > 0
		if m.Started {
			m.Name = fmt.Sprintf("cp-%d", i)
		}
		out = append(out, m)
	}
	return out
}

func peerOf(i int) string { return fmt.Sprintf("https://192.0.2.%d:2380", i+1) }

func randomMachine(r *rand.Rand, i int, members []guard.Member) v1alpha1.TalosMachine {
	m := v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("cp-%d", i), Namespace: "default", UID: types.UID(fmt.Sprint(i))}}
	m.Spec = v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: v1alpha1.MachineControlPlane, Endpoint: fmt.Sprintf("192.0.2.%d", i+1), Approved: r.IntN(8) > 0}
	if r.IntN(8) == 0 {
		m.Spec.Role = v1alpha1.MachineWorker
	}
	if r.IntN(6) > 0 {
		m.Annotations = map[string]string{v1alpha1.AnnotationAllowDelete: "true"}
	}
	if i > 0 && r.IntN(8) == 0 {
		m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1800000000, 0)}
	}
	listed := slices.ContainsFunc(members, func(member guard.Member) bool { return member.ID == uint64(i+1) })
	if m.Spec.Role == v1alpha1.MachineControlPlane && listed {
		m.Status.EtcdMember = &v1alpha1.MachineEtcdMember{ID: v1alpha1.HexID(hexOf(uint64(i + 1))), PeerURLs: []v1alpha1.URL{v1alpha1.URL(peerOf(i))}}
	}
	return m
}
