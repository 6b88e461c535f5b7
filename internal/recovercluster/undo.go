package recovercluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/snapshot/stored"
	"github.com/quorate/quorate/internal/store"
)

// undo takes a snapshot that leads back, if etcd lives, and gives its name.
func (r *Recovery) undo(ctx context.Context, p *Plan, restoration string) (string, error) {
	if p.alive == nil || r.WithoutUndo {
		return "", nil
	}
	now, err := r.free(ctx)
	if err != nil {
		return "", err
	}
	meta := snapshot.Meta{
		Name: snapshot.SnapshotName(now), Time: now, Namespace: p.meta.Namespace, Cluster: p.meta.Cluster, TalosClusterID: r.ClusterID,
		Authorities:    snapshot.Fingerprints{Etcd: r.Authorities.Etcd, K8s: r.Authorities.Kubernetes, OS: r.Authorities.OS},
		KeyFingerprint: r.Key.Fingerprint(), Quorate: r.Quorate, UndoOf: restoration,
	}
	if id := p.alive.ClusterID; id != 0 {
		meta.EtcdClusterID = strconv.FormatUint(id, 16)
	}
	taking := stored.Taking{Store: r.Store, Key: r.Key, Inspector: &r.Worker, Scratch: filepath.Dir(r.Folder.SnapshotPath()), Now: r.Now}
	meta, err = taking.Take(ctx, meta, r.sources(p.nodes))
	if err != nil {
		return "", fmt.Errorf("take a snapshot that leads back (give --without-undo to do without): %w", err)
	}
	return meta.Name, nil
}

func (r *Recovery) sources(nodes []restore.Node) (out []stored.Source) {
	for _, n := range nodes {
		out = append(out, stored.Source{Name: n.Machine, Open: func(ctx context.Context) (io.ReadCloser, error) { return r.Snapshots(ctx, n.Address) }})
	}
	return out
}

// free is the next second of which there is no snapshot: a controller may take one too.
func (r *Recovery) free(ctx context.Context) (time.Time, error) {
	for at := r.Now().UTC().Truncate(time.Second); ; at = at.Add(time.Second) {
		_, err := r.Store.Stat(ctx, snapshot.SnapshotName(at))
		if errors.Is(err, store.ErrNotFound) {
			return at, nil
		}
		if err != nil {
			return at, err
		}
	}
}
