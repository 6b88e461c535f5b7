package etcd

import (
	"context"
	"slices"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	client "github.com/quorate/quorate/internal/etcd"
)

// Images are what members run.
type Images struct {
	// Agent has quorate-guard in it, the manager's own image.
	Agent string
	// Etcd has etcd in it; {version} stands for the release, such as 3.6.14.
	Etcd string
}

// cycle is one reconcile of one Etcd: what was read, and what is to be said.
type cycle struct {
	*Reconciler
	log   logr.Logger
	names names
	runID string

	etcd *v1alpha1.Etcd
	read *v1alpha1.Etcd // as it was read or last written
	set  *appsv1.StatefulSet
	pods []corev1.Pod
	// claims are the volumes' claims that carry the Etcd's labels.
	claims []corev1.PersistentVolumeClaim

	view    *client.View
	viewErr error
	// acted is set once something irreversible was asked for: what was read before is
	// old then, and nothing else is.
	acted bool
	// again is when to look once more; 0 for the usual time.
	again    time.Duration
	failures []failure
	notes    []note
	// unmadeWhy is what the StatefulSet's controller says of pods that it cannot make.
	unmadeWhy string
	// rolling is set while pods of an older template are left.
	rolling bool
	// doing is the description of the last operation.
	doing string
	// waiting is what was left undone for a restore.
	waiting wait
}

// failure stands in the way and is told in lastErrors.
type failure struct {
	code v1alpha1.ErrorCode
	text string
}

// fail records what stands in the way.
func (c *cycle) fail(code v1alpha1.ErrorCode, text string) {
	if !slices.Contains(c.failures, failure{code, text}) {
		c.failures = append(c.failures, failure{code, text})
	}
}

// soon asks for another look after a time; the shortest wish wins.
func (c *cycle) soon(d time.Duration) {
	if c.again == 0 || d < c.again {
		c.again = d
	}
}

func (c *cycle) replicas() int { return int(ptr.Deref(c.etcd.Spec.Replicas, 0)) }

// meta is that of an object of the Etcd, owned by it.
func (c *cycle) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: c.etcd.Namespace, Labels: c.names.labels(),
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c.etcd, v1alpha1.GroupVersion.WithKind("Etcd"))},
	}
}

// recorded is what detection looks at, from what the cycle has read.
func (c *cycle) recorded() guard.Recorded { return recordedOf(c.etcd, c.set, c.leftover()) }

func recordedOf(e *v1alpha1.Etcd, set *appsv1.StatefulSet, leftover bool) guard.Recorded {
	r := guard.Recorded{
		Spec:     int(ptr.Deref(e.Spec.Replicas, 0)),
		Exists:   set != nil,
		Formed:   e.Status.ClusterID != "",
		LastSize: int(ptr.Deref(e.Status.HibernatedReplicas, 0)),
		Leftover: leftover,
		Joining:  joiningOf(e) != nil,
	}
	if set != nil {
		r.StatefulSet = int(ptr.Deref(set.Spec.Replicas, 1))
	}
	if op := e.Status.ScaleOperation; op != nil {
		r.Operation = &guard.Operation{Type: op.Type, From: int(op.From), To: int(op.To)}
	}
	for _, m := range e.Status.BootstrapWithExistingClusterMembers {
		r.Joined = append(r.Joined, m.Name)
	}
	r.Listed = listedOf(e)
	return r
}

// listedOf are the source members that spec lists.
func listedOf(e *v1alpha1.Etcd) []string {
	if e.Spec.Etcd == nil || e.Spec.Etcd.BootstrapWithExistingCluster == nil {
		return nil
	}
	var out []string
	for _, m := range e.Spec.Etcd.BootstrapWithExistingCluster.Members {
		out = append(out, m.Name)
	}
	return out
}

// joiningOf is the source while the join is not complete; nil otherwise.
func joiningOf(e *v1alpha1.Etcd) *v1alpha1.BootstrapWithExistingCluster {
	if e.Spec.Etcd == nil || e.Spec.Etcd.BootstrapWithExistingCluster == nil || isTrue(e, v1alpha1.ConditionBootstrappedWithExistingCluster) {
		return nil
	}
	return e.Spec.Etcd.BootstrapWithExistingCluster
}

func (c *cycle) joining() *v1alpha1.BootstrapWithExistingCluster { return joiningOf(c.etcd) }

// places are all that this Etcd can have.
func (c *cycle) places() []guard.Own {
	return c.names.places(maxOrdinals)
}

// own finds the member of an ordinal in the live list.
func (c *cycle) own(ordinal int) (guard.Member, bool) {
	if c.view == nil {
		return guard.Member{}, false
	}
	found := guard.OwnMembers(c.view.Members, c.places()[ordinal:ordinal+1])
	if len(found) == 0 {
		return guard.Member{}, false
	}
	return found[0], true
}

// beyond are the own members in the live list with ordinals of at least a number.
func (c *cycle) beyond(replicas int) []guard.Member {
	if c.view == nil {
		return nil
	}
	return guard.OwnMembers(c.view.Members, c.places()[min(replicas, maxOrdinals):])
}

// strangers are live members that are none of this Etcd's: it shares the cluster.
func (c *cycle) strangers() []guard.Member {
	if c.view == nil {
		return nil
	}
	own := c.beyond(0)
	return slices.DeleteFunc(slices.Clone(c.view.Members), func(m guard.Member) bool {
		return slices.ContainsFunc(own, func(o guard.Member) bool { return o.ID == m.ID })
	})
}

// pod finds the pod of an ordinal.
func (c *cycle) podOf(ordinal int) *corev1.Pod {
	for i := range c.pods {
		if c.pods[i].Name == c.names.pod(ordinal) {
			return &c.pods[i]
		}
	}
	return nil
}

// progress is what the live world says of the recorded change.
func (c *cycle) progress() guard.Progress {
	n := c.replicas()
	p := guard.Progress{Seen: c.view != nil, Beyond: len(c.beyond(n)) > 0, Remains: c.remains()}
	if c.view == nil {
		return p
	}
	p.Quorate = guard.CountOf(c.view.Members).Quorate()
	for i := range min(n, c.recorded().StatefulSet) {
		m, ok := c.own(i)
		p.Missing = p.Missing || !ok || m.Learner || !m.Started
	}
	return p
}

// persist writes the status if it differs, on condition that nobody has written the
// object meanwhile: what was decided on an older spec is not recorded.
func (c *cycle) persist(ctx context.Context) error {
	if c.sameStatus() {
		c.tell() // what was done and is no part of the status
		return nil
	}
	return c.writeStatus(ctx)
}
