package machine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/drain"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
)

// played is a world in memory: an API server, and machines cp-1, cp-2, … with an etcd
// member each, the first of which leads.
type played struct {
	t      *testing.T
	api    client.WithWatch
	engine *cel.Engine

	mu      sync.Mutex
	members []guard.Member
	silent  map[string]bool // machines that do not answer
	// leaveFails lets a machine leave and then answer with an error.
	leaveFails bool
	// hangs lets no leave end by itself.
	hangs bool
	// foreign machines answer with an error when they are asked for their cluster.
	foreign map[string]error
	// reports are what machines call their Nodes, where that is not their own name.
	reports map[string]string
	viewErr error
	// staged are machines whose configuration waits for a reboot; configErr is what all
	// answer instead of saying so.
	staged    map[string]bool
	configErr error
	// denies are machines that let no removal pass.
	denies map[string]bool
	// refusals are how many removals by ID end in an error before one is done.
	refusals int
	// looks is how many looks at a node find pods.
	looks int
	// sent are the removals that were asked for, with whether the member was listed.
	sent []string
}

const etcdID = v1alpha1.HexID("abc")

func newPlayed(t *testing.T, engine *cel.Engine, machines ...client.Object) *played {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	p := &played{t: t, engine: engine, silent: map[string]bool{}, staged: map[string]bool{}, foreign: map[string]error{}, looks: 1}
	cluster := &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Name: "quay", Namespace: "default", UID: "quay"}}
	cluster.Spec.ControlPlane.Count, cluster.Status.ClusterID = 1, etcdID
	objects := append([]client.Object{cluster}, machines...)
	for _, o := range machines {
		m := o.(*v1alpha1.TalosMachine)
		objects = append(objects, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.Name}})
		if e := m.Status.EtcdMember; e != nil {
			self := describe(m, "")
			p.members = append(p.members, guard.Member{
				ID: self.MemberID, Name: m.Name, PeerURLs: self.PeerURLs, Started: true, Healthy: true, Leader: len(p.members) == 0,
			})
		}
	}
	p.api = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&v1alpha1.TalosCluster{}, &v1alpha1.TalosMachine{}).Build()
	return p
}

// controlPlanes are n approved ones; the last one is being deleted.
func controlPlanes(n int) (out []client.Object) {
	for i := 1; i <= n; i++ {
		m := machineOf(fmt.Sprintf("cp-%d", i), v1alpha1.MachineControlPlane, i)
		m.Status.EtcdMember = &v1alpha1.MachineEtcdMember{ID: v1alpha1.HexID(fmt.Sprintf("a%d", i)), PeerURLs: []v1alpha1.URL{v1alpha1.URL(peerOf(i - 1))}}
		if i == n {
			deleted(m)
		}
		out = append(out, m)
	}
	return out
}

func machineOf(name string, role v1alpha1.MachineRole, i int) *v1alpha1.TalosMachine {
	m := &v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", UID: types.UID(name), Finalizers: []string{v1alpha1.FinalizerMachine}}}
	m.Spec = v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: role, Endpoint: fmt.Sprintf("192.0.2.%d", i), Approved: true}
	m.Status.NodeName = name
	return m
}

func deleted(m *v1alpha1.TalosMachine) *v1alpha1.TalosMachine {
	m.DeletionTimestamp = &metav1.Time{Time: beginning}
	m.Annotations = map[string]string{v1alpha1.AnnotationAllowDelete: "true"}
	return m
}

// reconciler is a process of the controller; what it asks of the world goes by way of m.
func (p *played) reconciler(m *mortal) *Reconciler {
	api := m.client(p.api)
	locks := &lease.Locks{Live: api, Client: api, Clock: clock.RealClock{}, Identity: "quorate"}
	return &Reconciler{
		Client: api, Live: api, Events: events.NewFakeRecorder(1000), Clock: clock.RealClock{}, Log: logr.Discard(),
		Plane: p, Lock: LockBy(locks), Judge: p.engine, Objects: p, Drainer: &playedDrainer{p, m},
		Dial: func(_ *talos.Bundle, of *v1alpha1.TalosMachine, _ talos.Role) (Node, error) {
			return &playedNode{p, m, of.Name}, nil
		},
	}
}

// Bundle is that of nobody: the machines of this world ask for no certificate.
func (p *played) Bundle(context.Context, *v1alpha1.TalosCluster) (*talos.Bundle, error) {
	return &talos.Bundle{}, nil
}

func (p *played) Machines(ctx context.Context, namespace, _ string) ([]v1alpha1.TalosMachine, error) {
	var list v1alpha1.TalosMachineList
	err := p.api.List(ctx, &list, client.InNamespace(namespace))
	return list.Items, err
}

func (p *played) View(context.Context, *talos.Bundle, []v1alpha1.TalosMachine, v1alpha1.HexID) (*etcd.View, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return &etcd.View{Members: slices.Clone(p.members)}, p.viewErr
}

// Get and List are what the rules read.
func (p *played) Get(ctx context.Context, _, namespace, name string) (map[string]any, bool, error) {
	cluster := &v1alpha1.TalosCluster{}
	if err := p.api.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, cluster); err != nil {
		return nil, false, client.IgnoreNotFound(err)
	}
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(cluster)
	return m, true, err
}

func (p *played) List(ctx context.Context, _, namespace string) (out []any, err error) {
	machines, err := p.Machines(ctx, namespace, "")
	for i := range machines {
		m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&machines[i])
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, err
}

var _ kube.Reader = (*played)(nil)

// drop removes a member, and notes that somebody asked for it.
func (p *played) drop(by string, id uint64) {
	before := len(p.members)
	p.members = slices.DeleteFunc(p.members, func(m guard.Member) bool { return m.ID == id })
	p.sent = append(p.sent, fmt.Sprintf("%s %x listed=%t", by, id, len(p.members) < before))
}

type playedDrainer struct {
	p *played
	m *mortal
}

func (d *playedDrainer) Step(_ context.Context, node string) (progress drain.Progress, err error) {
	err = d.m.call("drain "+node, func() error {
		d.p.mu.Lock()
		defer d.p.mu.Unlock()
		if d.p.looks--; d.p.looks >= 0 {
			progress.Left = []string{"default/app"}
		}
		return nil
	})
	return progress, err
}
