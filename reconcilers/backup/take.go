package backup

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/stored"
)

// errNobody says that there is no control plane to ask.
var errNobody = errors.New("no TalosMachine is an approved control plane that stays: approve one")

// take stores a snapshot of the first control plane that gives one, and proves it.
func (c *cycle) take(ctx context.Context) (snapshot.Meta, error) {
	now := c.Clock.Now().UTC()
	meta := snapshot.Meta{
		Name: snapshot.SnapshotName(now), Time: now.Truncate(1e9), Namespace: c.cluster.Namespace, Cluster: c.cluster.Name,
		TalosClusterID: c.bundle.ClusterID(), EtcdClusterID: string(c.cluster.Status.ClusterID),
		Authorities: c.keys.Authorities, KeyFingerprint: c.keys.Key.Fingerprint(), Quorate: c.Version, UndoOf: c.undoOf,
	}
	from := c.sources()
	if len(from) == 0 {
		return meta, errNobody
	}
	taking := stored.Taking{Store: c.store, Key: c.keys.Key, Inspector: c.Inspector, Scratch: c.Scratch, Now: c.Clock.Now}
	return taking.Take(ctx, meta, from)
}

// sources are the control planes that stay.
func (c *cycle) sources() (out []stored.Source) {
	for _, m := range c.asked() {
		out = append(out, stored.Source{Name: "TalosMachine " + m.Name, Open: func(ctx context.Context) (io.ReadCloser, error) {
			return c.Source(ctx, c.bundle, &m)
		}})
	}
	return out
}

// asked are the control planes that stay.
func (c *cycle) asked() []v1alpha1.TalosMachine {
	return slices.DeleteFunc(slices.Clone(c.machines), func(m v1alpha1.TalosMachine) bool {
		return !controlplane.Approved(&m) || !m.DeletionTimestamp.IsZero()
	})
}
