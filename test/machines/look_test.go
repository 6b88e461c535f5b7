package machines

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// until waits for something that check is content with.
func (f *fleet) until(what string, check func(context.Context) error) {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	must(f.t, cluster.Until(ctx, what, check))
}

// untilMachine waits for a machine to be so.
func (f *fleet) untilMachine(name, what string, check func(*v1alpha1.TalosMachine) error) {
	f.t.Helper()
	f.until(name+" "+what, func(ctx context.Context) error {
		m := &v1alpha1.TalosMachine{}
		if err := admin.Get(ctx, f.key(name), m); err != nil {
			return err
		}
		if err := check(m); err != nil {
			return fmt.Errorf("%w: %s", err, describe(m))
		}
		return nil
	})
}

// untilCluster waits for the TalosCluster to be so.
func (f *fleet) untilCluster(what string, check func(*v1alpha1.TalosCluster) error) {
	f.t.Helper()
	f.until("the cluster "+what, func(ctx context.Context) error {
		c := &v1alpha1.TalosCluster{}
		if err := admin.Get(ctx, f.key(f.name), c); err != nil {
			return err
		}
		if err := check(c); err != nil {
			return fmt.Errorf("%w: %s", err, describeCluster(c))
		}
		return nil
	})
}

func (f *fleet) machine(name string) *v1alpha1.TalosMachine {
	f.t.Helper()
	m := &v1alpha1.TalosMachine{}
	must(f.t, admin.Get(f.t.Context(), f.key(name), m))
	return m
}

func (f *fleet) cluster() *v1alpha1.TalosCluster {
	f.t.Helper()
	c := &v1alpha1.TalosCluster{}
	must(f.t, admin.Get(f.t.Context(), f.key(f.name), c))
	return c
}

// ready waits until all machines that have objects are as asked, and their cluster
// knows its members.
func (f *fleet) ready() {
	f.t.Helper()
	members := 0
	for _, n := range f.talos.Nodes() {
		if f.strange(n.Name) {
			continue
		}
		f.readyMachine(n.Name)
		if !n.Worker() {
			members++
		}
	}
	f.untilCluster(fmt.Sprintf("to have %d healthy members", members), func(c *v1alpha1.TalosCluster) error {
		healthy := slices.DeleteFunc(slices.Clone(c.Status.Members), func(m v1alpha1.EtcdMember) bool { return !m.Healthy })
		if len(healthy) < members || !meta.IsStatusConditionTrue(c.Status.Conditions, v1alpha1.ConditionQuorate) || c.Status.ClusterID == "" {
			return errNotYet
		}
		return nil
	})
}

func (f *fleet) readyMachine(name string) {
	f.t.Helper()
	n := f.talos.Node(name)
	f.untilMachine(name, "to be as asked", func(m *v1alpha1.TalosMachine) error {
		c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionReady)
		switch {
		case c == nil || c.Status != "True" || c.Reason != v1alpha1.ReasonAsAsked:
			return fmt.Errorf("%w: not ready", errNotYet)
		case !slices.Contains(m.Finalizers, v1alpha1.FinalizerMachine):
			return fmt.Errorf("%w: no finalizer", errNotYet)
		case m.Status.Address != n.IP || m.Status.NodeName != n.NodeName():
			return fmt.Errorf("%w: address %q, Node %q", errNotYet, m.Status.Address, m.Status.NodeName)
		case !n.Worker() && (m.Status.EtcdMember == nil || !slices.Equal(m.Status.EtcdMember.PeerURLs, []v1alpha1.URL{v1alpha1.URL(n.PeerURL())})):
			return fmt.Errorf("%w: the member is not recorded", errNotYet)
		case n.Worker() && m.Status.EtcdMember != nil:
			return errors.New("a worker has a member")
		}
		return nil
	})
}

// removal waits for the condition Removal with this reason, and with all of the texts
// in its message.
func (f *fleet) removal(name, reason string, texts ...string) {
	f.t.Helper()
	f.untilMachine(name, "to say "+reason, func(m *v1alpha1.TalosMachine) error {
		return says(m.Status.Conditions, v1alpha1.ConditionRemoval, reason, texts...)
	})
}

// gone waits until the machine's object is.
func (f *fleet) gone(names ...string) {
	f.t.Helper()
	for _, name := range names {
		f.until(name+" to be gone", func(ctx context.Context) error {
			m := &v1alpha1.TalosMachine{}
			err := admin.Get(ctx, f.key(name), m)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return fmt.Errorf("%w: %v %s", errNotYet, err, describe(m))
		})
	}
}

// stays holds something for so long, and fails as soon as it is not so.
func (f *fleet) stays(what string, during time.Duration, check func(context.Context) error) {
	f.t.Helper()
	end := time.Now().Add(during)
	var broken error
	f.until(what+" for "+during.String(), func(ctx context.Context) error {
		if broken = check(ctx); broken != nil || time.Now().After(end) {
			return nil
		}
		return errNotYet
	})
	if broken != nil {
		f.t.Fatalf("%s: it did not last: %v", what, broken)
	}
}

// condition is the machine's Removal.
func (f *fleet) condition(name string) metav1.Condition {
	f.t.Helper()
	c := meta.FindStatusCondition(f.machine(name).Status.Conditions, v1alpha1.ConditionRemoval)
	if c == nil {
		f.t.Fatalf("%s has no condition Removal", name)
	}
	return *c
}
