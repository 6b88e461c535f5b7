package etcds

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// limit bounds what a test waits for at once.
const limit = 3 * time.Minute

// version is the release that runs in the pods.
const version = "3.7.3"

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// plant is one Etcd of a test, in a namespace of its own.
type plant struct {
	t    *testing.T
	ns   string
	name string
	// tls is a person's way in; nil for plain HTTP.
	tls *tls.Config
	// written are the prefixes of acknowledged keys.
	written []string
}

func (p *plant) key() client.ObjectKey { return client.ObjectKey{Namespace: p.ns, Name: p.name} }

// newPlant makes an Etcd and waits until it is as asked.
func newPlant(t *testing.T, replicas int, change ...func(*v1alpha1.Etcd)) *plant {
	t.Helper()
	p := &plant{t: t, ns: newNamespace(t), name: "main"}
	p.create(replicas, change...)
	p.settled(replicas)
	return p
}

func newNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "plant-"}}
	must(t, admin.Create(t.Context(), ns))
	return ns.Name
}

func (p *plant) create(replicas int, change ...func(*v1alpha1.Etcd)) {
	p.t.Helper()
	e := &v1alpha1.Etcd{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.name},
		Spec: v1alpha1.EtcdSpec{
			Replicas: ptr.To(int32(replicas)), Storage: v1alpha1.StorageSpec{Size: ptr.To(resource.MustParse("1Gi"))},
			Etcd: &v1alpha1.EtcdConfig{Version: version},
		},
	}
	for _, c := range change {
		c(e)
	}
	must(p.t, admin.Create(p.t.Context(), e))
	p.t.Cleanup(p.clear)
}

// clear ends the Etcd and waits until nothing of it runs: tests share two cores.
func (p *plant) clear() {
	if p.t.Failed() {
		p.t.Log(p.report())
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	e := &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.name}}
	if err := client.IgnoreNotFound(admin.Delete(ctx, e)); err != nil {
		p.t.Error(err)
	}
	err := cluster.Until(ctx, "the Etcd to end", func(ctx context.Context) error {
		if err := admin.Get(ctx, p.key(), e); client.IgnoreNotFound(err) != nil || err == nil {
			return fmt.Errorf("the Etcd is there (%v): %s", err, describe(e))
		}
		pods, err := p.pods(ctx)
		if err == nil && len(pods) > 0 {
			err = fmt.Errorf("%d pods are there", len(pods))
		}
		return err
	})
	if err != nil {
		p.t.Error(err)
	}
}

func (p *plant) pods(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := admin.List(ctx, &pods, client.InNamespace(p.ns), client.MatchingLabels{"app.kubernetes.io/instance": p.name})
	return pods.Items, err
}

func (p *plant) claims(ctx context.Context) ([]string, error) {
	var claims corev1.PersistentVolumeClaimList
	err := admin.List(ctx, &claims, client.InNamespace(p.ns), client.MatchingLabels{"app.kubernetes.io/instance": p.name})
	var names []string
	for _, c := range claims.Items {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return names, err
}

func (p *plant) get() *v1alpha1.Etcd {
	p.t.Helper()
	e := &v1alpha1.Etcd{}
	must(p.t, admin.Get(p.t.Context(), p.key(), e))
	return e
}

// scale does what an operator does.
func (p *plant) scale(replicas int) {
	p.t.Helper()
	must(p.t, p.tryScale(replicas))
}

func (p *plant) tryScale(replicas int) error {
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	return admin.Patch(p.t.Context(), p.get(), client.RawPatch("application/merge-patch+json", patch))
}

// until waits for the Etcd to be so.
func (p *plant) until(what string, check func(*v1alpha1.Etcd) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	must(p.t, cluster.Until(ctx, what, func(ctx context.Context) error {
		e := &v1alpha1.Etcd{}
		if err := admin.Get(ctx, p.key(), e); err != nil {
			return err
		}
		if err := check(e); err != nil {
			return fmt.Errorf("%w: %s", err, describe(e))
		}
		return nil
	}))
}

var errNotYet = errors.New("not yet")

// settled waits until the Etcd has that many healthy voters, and nothing else.
func (p *plant) settled(replicas int) {
	p.t.Helper()
	p.until(fmt.Sprintf("%d healthy members and nothing left to do", replicas), func(e *v1alpha1.Etcd) error {
		return settledAt(e, replicas)
	})
}

func settledAt(e *v1alpha1.Etcd, replicas int) error {
	switch {
	case e.Status.ObservedGeneration != e.Generation:
		return fmt.Errorf("%w: generation %d is observed, %d is asked for", errNotYet, e.Status.ObservedGeneration, e.Generation)
	case e.Status.ScaleOperation != nil || !meta.IsStatusConditionFalse(e.Status.Conditions, v1alpha1.ConditionScaleOperationInProgress):
		return fmt.Errorf("%w: a change is on its way", errNotYet)
	case !meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionReady), !meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionQuorate):
		return fmt.Errorf("%w: not ready", errNotYet)
	case len(e.Status.Members) != replicas, int(e.Status.Replicas) != replicas:
		return fmt.Errorf("%w: %d members in %d replicas", errNotYet, len(e.Status.Members), e.Status.Replicas)
	case len(e.Status.LastErrors) > 0 || e.Status.LastOperation.State != v1alpha1.StateSucceeded:
		return fmt.Errorf("%w: the last reconcile has not succeeded", errNotYet)
	}
	return nil
}

// describe is an Etcd in a few lines.
func describe(e *v1alpha1.Etcd) string {
	var b strings.Builder
	fmt.Fprintf(&b, "spec.replicas=%d status.replicas=%d clusterID=%s", ptr.Deref(e.Spec.Replicas, -1), e.Status.Replicas, e.Status.ClusterID)
	for _, c := range e.Status.Conditions {
		fmt.Fprintf(&b, "\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	if o := e.Status.LastOperation; o != nil {
		fmt.Fprintf(&b, "\n  last: %s %s: %s", o.Type, o.State, o.Description)
	}
	for _, l := range e.Status.LastErrors {
		fmt.Fprintf(&b, "\n  error: %s: %s", l.Code, l.Description)
	}
	for _, m := range e.Status.Members {
		fmt.Fprintf(&b, "\n  member %q %s %s started=%t healthy=%t leader=%t", m.Name, m.ID, m.Role, m.Started, m.Healthy, m.Leader)
	}
	for _, r := range e.Status.RemovedMembers {
		fmt.Fprintf(&b, "\n  ledger %s %s %s", r.Name, r.ID, r.State)
	}
	return b.String()
}

// report is what a failed test needs to be understood: the Etcd, its pods and the
// managers' last lines.
func (p *plant) report() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	e := &v1alpha1.Etcd{}
	text := ""
	if err := admin.Get(ctx, p.key(), e); err == nil {
		text = describe(e)
	}
	pods, _ := p.pods(ctx)
	for _, pod := range pods {
		text += fmt.Sprintf("\n--- pod %s %s", pod.Name, pod.Status.Phase)
		for _, s := range append(append([]corev1.ContainerStatus{}, pod.Status.InitContainerStatuses...), pod.Status.ContainerStatuses...) {
			text += fmt.Sprintf("\n  %s ready=%t restarts=%d %+v", s.Name, s.Ready, s.RestartCount, s.State)
			text += "\n    " + tail(shared.Nodes.Logs(p.ns, pod.Name, s.Name), 4)
		}
	}
	for _, m := range []*world.Manager{gate, controllers} {
		if m == nil {
			continue
		}
		log, _ := m.Log()
		text += "\n--- " + m.Name + "\n" + tail(log, 40)
	}
	return text
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n    ")
}
