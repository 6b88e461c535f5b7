package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/stored"
	"github.com/quorate/quorate/internal/store"
)

// errNobody says that there is no control plane to ask.
var errNobody = errors.New("no TalosMachine is an approved control plane that stays: approve one")

// take stores a snapshot, reads it back and opens it, and says so beside it last of all.
func (c *cycle) take(ctx context.Context) (snapshot.Meta, error) {
	now := c.Clock.Now().UTC()
	meta := snapshot.Meta{
		Name: snapshot.SnapshotName(now), Time: now.Truncate(1e9), Namespace: c.cluster.Namespace, Cluster: c.cluster.Name,
		TalosClusterID: c.bundle.ClusterID(), EtcdClusterID: string(c.cluster.Status.ClusterID),
		Authorities: c.keys.Authorities, KeyFingerprint: c.keys.Key.Fingerprint(), Quorate: c.Version, UndoOf: c.undoOf,
	}
	sealed, err := c.upload(ctx, meta.Name)
	if err != nil {
		return meta, err
	}
	found, err := Prove(ctx, c.store, c.keys.Key, c.Inspector, c.Scratch, meta.Name)
	if err != nil {
		return meta, fmt.Errorf("read %s back: %w", meta.Name, err)
	}
	if found.Sum != sealed.PlainSum {
		return meta, fmt.Errorf("read %s back: %w: it is another one than was stored", meta.Name, snapshot.ErrDamaged)
	}
	meta.Size, meta.PlainSize, meta.Sum, meta.PlainSum = sealed.Size, sealed.PlainSize, sealed.Sum, sealed.PlainSum
	meta.Revision, meta.Keys, meta.Members = found.Revision, found.Keys, found.Members
	meta.Verified = &snapshot.Verified{Revision: found.Revision, Keys: found.Keys, Members: len(found.Members), At: c.Clock.Now().UTC().Truncate(1e9)}
	return meta, c.finish(ctx, meta)
}

func (c *cycle) finish(ctx context.Context, meta snapshot.Meta) error {
	data, err := meta.Encode()
	if err != nil {
		return err
	}
	_, err = c.store.Put(ctx, snapshot.MetaName(meta.Name), bytes.NewReader(data))
	return err
}

// upload asks one approved control plane after the other.
func (c *cycle) upload(ctx context.Context, name string) (snapshot.Sealed, error) {
	errs := []error{}
	for _, m := range c.asked() {
		sealed, err := c.from(ctx, &m, name)
		if err == nil {
			return sealed, nil
		}
		errs = append(errs, fmt.Errorf("TalosMachine %s: %w", m.Name, err))
		if ctx.Err() != nil || ofStore(err) {
			break
		}
	}
	if len(errs) == 0 {
		return snapshot.Sealed{}, errNobody
	}
	return snapshot.Sealed{}, errors.Join(errs...)
}

// ofStore tells that the store is why, and no other machine does better.
func ofStore(err error) bool {
	return slices.ContainsFunc([]error{store.ErrSettings, store.ErrDenied, store.ErrUnreachable}, func(is error) bool { return errors.Is(err, is) })
}

// asked are the control planes that stay.
func (c *cycle) asked() []v1alpha1.TalosMachine {
	return slices.DeleteFunc(slices.Clone(c.machines), func(m v1alpha1.TalosMachine) bool {
		return !controlplane.Approved(&m) || !m.DeletionTimestamp.IsZero()
	})
}

// from streams one control plane's snapshot into the store, encrypted on its way. If
// either end fails, the other one is let go, and nothing is stored.
func (c *cycle) from(ctx context.Context, m *v1alpha1.TalosMachine, name string) (snapshot.Sealed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.Source(ctx, c.bundle, m)
	if err != nil {
		return snapshot.Sealed{}, err
	}
	sealed, info, err := stored.Put(ctx, c.store, name, stream, c.keys.Key)
	if err == nil && info.Size != sealed.Size {
		err = fmt.Errorf("%w: %d bytes were stored of %d", snapshot.ErrDamaged, info.Size, sealed.Size)
	}
	return sealed, err
}
