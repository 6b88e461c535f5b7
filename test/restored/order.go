package restored

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// Order is a restore of the cluster, as somebody writes it by hand.
func Order(name, backup, snapshot string) *v1alpha1.TalosOperation {
	return &v1alpha1.TalosOperation{ObjectMeta: named(name), Spec: v1alpha1.TalosOperationSpec{
		Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: Cluster},
		EtcdRestore: &v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: backup}, Snapshot: snapshot, Confirm: Cluster},
	}}
}

// ErrPaused is the error of an operation that does not go on by itself.
var ErrPaused = errors.New("the operation is paused")

// AtStep waits until an operation is at a step, and fails at once if it is paused.
func (w *World) AtStep(ctx context.Context, name string, step v1alpha1.RestoreStep) error {
	_, err := w.await(ctx, name, "to be "+string(step), func(o *v1alpha1.TalosOperation) bool {
		return o.Status.EtcdRestore != nil && o.Status.EtcdRestore.Step == step
	})
	return err
}

// Completed waits until an operation, which may have been made again, is over, and fails
// at once if it is paused.
func (w *World) Completed(ctx context.Context, name string) (*v1alpha1.TalosOperation, error) {
	return w.await(ctx, name, "to end", func(o *v1alpha1.TalosOperation) bool {
		return o.Status.Phase == v1alpha1.PhaseCompleted
	})
}

func (w *World) await(ctx context.Context, name, what string, is func(*v1alpha1.TalosOperation) bool) (o *v1alpha1.TalosOperation, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	err = cluster.Until(ctx, "operation "+name+" "+what, func(ctx context.Context) error {
		ctx, end := context.WithTimeout(ctx, callTimeout)
		defer end()
		o = &v1alpha1.TalosOperation{ObjectMeta: named(name)}
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		if o.Status.Phase == v1alpha1.PhasePaused {
			cancel(fmt.Errorf("%w: %s", ErrPaused, o.Status.FailureReason))
		}
		if !is(o) {
			return fmt.Errorf("%w: %s, %+v", errNotYet, o.Status.Phase, o.Status.EtcdRestore)
		}
		return nil
	})
	return o, err
}
