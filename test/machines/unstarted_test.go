package machines

import (
	"context"
	"fmt"
	"slices"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/etcdcluster"
	"github.com/quorate/quorate/test/talos"
)

// unstarted adds a learner to etcd for a node that stays off, and answers its ID.
func (f *fleet) unstarted(name string) (n *talos.Node, id uint64) {
	f.t.Helper()
	n, err := f.talos.Add(name, false)
	must(f.t, err)
	must(f.t, ask(f.t.Context(), f.talos.Node("cp-1"), func(ctx context.Context, c *clientv3.Client) (err error) {
		id, err = etcdcluster.AddLearner(ctx, c, n.PeerURL())
		return err
	}))
	return n, id
}

// watchedOver waits until the controller holds the machine's object.
func (f *fleet) watchedOver(name string) {
	f.t.Helper()
	f.untilMachine(name, "to have its finalizer", func(m *v1alpha1.TalosMachine) error {
		if !slices.Contains(m.Finalizers, v1alpha1.FinalizerMachine) {
			return fmt.Errorf("%w: it has none", errNotYet)
		}
		return nil
	})
}
