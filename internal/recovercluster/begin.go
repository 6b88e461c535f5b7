package recovercluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/stored"
)

const (
	// ahead is how far beyond all that etcd may have reached the recovered one begins.
	ahead = 1_000_000_000
	// askTimeout bounds asking one node how far its etcd is.
	askTimeout = 10 * time.Second
)

// begin stages and pins the resealed snapshot, and writes the marker last. If it fails,
// there is no restore, and no copy of it either.
func (r *Recovery) begin(ctx context.Context, p *Plan, identity string) error {
	resealed, err := r.reseal(ctx, p)
	if err != nil {
		return err
	}
	epoch := r.Now().UnixMilli()
	undo, err := r.undo(ctx, p, restore.CommandName(epoch))
	if err != nil {
		return err
	}
	if err := r.alone(ctx); err != nil {
		return err
	}
	name := restore.NewPinnedName()
	err = r.mark(ctx, p, name, restore.Recovery{
		Cluster: p.meta.Cluster, Namespace: p.meta.Namespace, Requester: r.Requester, Quorate: r.Quorate, Identity: identity,
		Snapshot: restore.Snapshot{Name: p.meta.Name, Time: p.meta.Time, Revision: resealed.Before},
		Pinned:   restore.Pinned{Floor: resealed.Revision, Undo: undo}, LeftOut: p.left, Epoch: epoch, Hold: r.Limits.Hold,
	})
	if err != nil && !errors.Is(err, restore.ErrUnsure) {
		err = errors.Join(err, r.unpin(ctx, name))
	}
	return err
}

// alone looks once more for another restore's marker.
func (r *Recovery) alone(ctx context.Context) error {
	m, _, err := restore.Markers{Store: r.Store}.Load(ctx)
	switch {
	case errors.Is(err, restore.ErrNoMarker):
		return nil
	case err != nil:
		return err
	}
	return other(m)
}

// mark pins the snapshot by a name, and writes the marker that says so.
func (r *Recovery) mark(ctx context.Context, p *Plan, name string, of restore.Recovery) error {
	pinned, err := r.pin(ctx, name)
	if err != nil {
		return err
	}
	pinned.Floor, pinned.Undo = of.Pinned.Floor, of.Pinned.Undo
	of.Pinned, of.Now = pinned, r.Now()
	for _, n := range p.nodes {
		of.Endpoints = append(of.Endpoints, n.Address)
	}
	m, err := restore.NewRecovery(ctx, r.Nodes, of)
	if err != nil {
		return err
	}
	is, err := restore.Markers{Store: r.Store}.Begin(ctx, m)
	switch {
	case errors.Is(err, restore.ErrOther):
		return other(is)
	case errors.Is(err, restore.ErrUnsure):
		return fmt.Errorf("%w. Give the command again: it goes on if it has", err)
	}
	return err
}

// unpin removes this restore's copy, also when the context is over.
func (r *Recovery) unpin(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	return r.Store.Delete(ctx, name)
}

// reseal makes of the snapshot the one that is uploaded, in the folder.
func (r *Recovery) reseal(ctx context.Context, p *Plan) (made snapshot.Resealed, err error) {
	meta, out := p.meta, r.Folder.SnapshotPath()
	plain := out + ".plain"
	defer func() { err = errors.Join(err, os.RemoveAll(plain)) }()
	if err := r.fetch(ctx, meta.Name, plain); err != nil {
		return made, fmt.Errorf("fetch snapshot %s: %w", meta.Name, err)
	}
	found, err := r.Worker.Inspect(ctx, plain)
	if err != nil {
		return made, err
	}
	if found.Sum != meta.PlainSum {
		return made, fmt.Errorf("%w: %s is another snapshot than the one that is described beside it: its sum is %s, and %s is written there", ErrBlocked, meta.Name, found.Sum, meta.PlainSum)
	}
	p.Afterwards = r.afterwards(meta, found)
	furthest, err := r.furthest(ctx)
	if err != nil {
		return made, err
	}
	return r.Worker.Reseal(ctx, plain, out, max(found.Revision, furthest)-found.Revision+ahead)
}

// afterwards compares the backups that the snapshot brings back with the store.
func (r *Recovery) afterwards(meta snapshot.Meta, found snapshot.Inspection) string {
	if r.At == nil {
		return ""
	}
	var backups []restoring.ReturnedBackup
	for _, b := range found.Backups {
		if b.Namespace == meta.Namespace {
			backups = append(backups, restoring.ReturnedBackup{Name: b.Name, Returned: restore.ReturnedOf(b.Spec, meta.Cluster)})
		}
	}
	return restoring.Afterwards(*r.At, meta.Cluster, meta.Namespace, backups, found.MoreBackups > 0)
}

// fetch decrypts the snapshot, which is whole if there is no error.
func (r *Recovery) fetch(ctx context.Context, name, to string) error {
	from, _, err := r.Store.Get(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // nothing is written to it
	plain, err := snapshot.Open(from, r.Key)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, plain)
	return errors.Join(err, file.Close())
}

// furthest is the last revision that etcd is known to have had: what is recorded beside
// all snapshots, and what nodes say whose etcd still answers.
func (r *Recovery) furthest(ctx context.Context) (revision int64, _ error) {
	for info, err := range r.Store.List(ctx, "etcd-") {
		if err != nil {
			return 0, fmt.Errorf("look how far etcd has come, by the snapshots in the store: %w", err)
		}
		if _, ok := snapshot.ParseName(info.Name); !ok {
			continue
		}
		if meta, err := r.meta(ctx, info.Name); err == nil {
			revision = max(revision, meta.Revision)
		}
	}
	for _, endpoint := range r.Endpoints {
		bounded, cancel := context.WithTimeout(ctx, askTimeout)
		if found, err := r.Etcd.Probe(bounded, endpoint); err == nil {
			revision = max(revision, found.Revision)
		}
		cancel()
	}
	return revision, nil
}

// pin keeps what is uploaded, encrypted, where the backups are.
func (r *Recovery) pin(ctx context.Context, name string) (restore.Pinned, error) {
	file, err := r.Folder.Snapshot()
	if err != nil {
		return restore.Pinned{}, err
	}
	sealed, _, err := stored.Put(ctx, r.Store, name, file, r.Key)
	if err != nil {
		return restore.Pinned{}, fmt.Errorf("keep the sealed copy in the store: %w", err)
	}
	return restore.PinnedOf(name, sealed), nil
}
