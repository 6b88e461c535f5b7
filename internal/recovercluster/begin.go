package recovercluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

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

// begin stages and pins the resealed snapshot, and writes the marker last.
func (r *Recovery) begin(ctx context.Context, p *Plan, identity string) error {
	resealed, err := r.reseal(ctx, p.meta)
	if err != nil {
		return err
	}
	epoch := r.Now().UnixMilli()
	undo, err := r.undo(ctx, p, restore.CommandName(epoch))
	if err != nil {
		return err
	}
	pinned, err := r.pin(ctx)
	if err != nil {
		return err
	}
	pinned.Floor, pinned.Undo = resealed.Revision, undo
	var endpoints []string
	for _, n := range p.nodes {
		endpoints = append(endpoints, n.Address)
	}
	m, err := restore.NewRecovery(ctx, r.Nodes, restore.Recovery{
		Cluster: p.meta.Cluster, Namespace: p.meta.Namespace, Requester: r.Requester, Quorate: r.Quorate, Identity: identity,
		Snapshot: restore.Snapshot{Name: p.meta.Name, Time: p.meta.Time, Revision: resealed.Before}, Pinned: pinned,
		Endpoints: endpoints, LeftOut: p.left, Now: r.Now(), Epoch: epoch, Hold: r.Limits.Hold,
	})
	if err != nil {
		return err
	}
	_, err = restore.Markers{Store: r.Store}.Create(ctx, m)
	return err
}

// reseal makes of the snapshot the one that is uploaded, in the folder.
func (r *Recovery) reseal(ctx context.Context, meta snapshot.Meta) (made snapshot.Resealed, err error) {
	out := r.Folder.SnapshotPath()
	plain := out + ".plain"
	defer func() { err = errors.Join(err, os.RemoveAll(plain)) }()
	if err := r.fetch(ctx, meta.Name, plain); err != nil {
		return made, fmt.Errorf("fetch snapshot %s: %w", meta.Name, err)
	}
	found, err := r.Worker.Inspect(ctx, plain)
	if err != nil {
		return made, err
	}
	furthest := max(found.Revision, r.furthest(ctx))
	return r.Worker.Reseal(ctx, plain, out, furthest-found.Revision+ahead)
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
func (r *Recovery) furthest(ctx context.Context) (revision int64) {
	for info, err := range r.Store.List(ctx, "etcd-") {
		if err != nil {
			break // what was read counts; the distance is far larger than what is missed
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
	return revision
}

// pin keeps what is uploaded, encrypted, where the backups are.
func (r *Recovery) pin(ctx context.Context) (restore.Pinned, error) {
	file, err := r.Folder.Snapshot()
	if err != nil {
		return restore.Pinned{}, err
	}
	sealed, _, err := stored.Put(ctx, r.Store, restore.PinnedName, file, r.Key)
	if err != nil {
		return restore.Pinned{}, fmt.Errorf("keep the sealed copy in the store: %w", err)
	}
	return restore.PinnedOf(sealed), nil
}
