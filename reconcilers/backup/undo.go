package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
)

// turnPause is how long one waits for its turn, or for the next second, before it looks
// again.
const turnPause = time.Second

// Undo takes a snapshot that leads back from a restore, and proves it as any other; it
// gives its name. It waits for a backup that is at work.
func (r *Reconciler) Undo(ctx context.Context, b *v1alpha1.TalosEtcdBackup, restore string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	free, err := r.turn(ctx, types.NamespacedName{Namespace: b.Namespace, Name: b.Spec.ClusterRef.Name})
	if err != nil {
		return "", err
	}
	defer free()
	c := &cycle{Reconciler: r, log: r.Log.WithValues("talosetcdbackup", b.Namespace+"/"+b.Name), undoOf: restore}
	c.hold(b.DeepCopy())
	for _, do := range []func(context.Context) error{c.observe, c.look, c.free} {
		if err := do(ctx); errors.Is(err, errOver) {
			return "", errors.New(c.trouble.text)
		} else if err != nil {
			return "", err
		}
	}
	meta, err := c.take(ctx)
	return meta.Name, err
}

// turn waits until no other backup of the cluster is at work.
func (r *Reconciler) turn(ctx context.Context, cluster types.NamespacedName) (free func(), err error) {
	for {
		if free := r.turns.take(cluster); free != nil {
			return free, nil
		}
		if err := pause(ctx, turnPause); err != nil {
			return nil, fmt.Errorf("wait for a backup of TalosCluster %s that is at work: %w", cluster.Name, err)
		}
	}
}

// free waits for a second of which there is no snapshot.
func (c *cycle) free(ctx context.Context) error {
	for c.seen.has(snapshot.SnapshotName(c.Clock.Now())) {
		if err := pause(ctx, turnPause); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
