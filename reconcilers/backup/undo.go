package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Undo takes a snapshot of etcd as it is, in the store of a backup, and gives its name:
// it leads back from a restore. It is stored and proved as any other one, and listed with
// them.
func (r *Reconciler) Undo(ctx context.Context, b *v1alpha1.TalosEtcdBackup, restore string) (name string, err error) {
	c := &cycle{Reconciler: r, log: r.Log.WithValues("talosetcdbackup", client.ObjectKeyFromObject(b).String()), undoOf: restore}
	c.hold(b)
	if err := c.observe(ctx); errors.Is(err, errOver) {
		return "", errors.New(c.trouble.text)
	} else if err != nil {
		return "", err
	}
	free, err := r.turn(ctx, b)
	if err != nil {
		return "", err
	}
	defer free()
	meta, err := c.take(ctx)
	return meta.Name, err
}

// turn waits until no other snapshot of the cluster is being taken.
func (r *Reconciler) turn(ctx context.Context, b *v1alpha1.TalosEtcdBackup) (free func(), err error) {
	cluster := client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.ClusterRef.Name}
	for {
		if free := r.turns.take(cluster); free != nil {
			return free, nil
		}
		timer := time.NewTimer(soonest)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("wait for another snapshot of cluster %s that is being taken: %w", cluster.Name, ctx.Err())
		case <-timer.C:
		}
	}
}
