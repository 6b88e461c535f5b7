package machines

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// clear ends what a failed or finished test leaves: the TalosCluster goes first, which
// lets its machines go.
func (f *fleet) clear() {
	if f.t.Failed() {
		f.t.Log(f.report())
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := f.end(ctx); err != nil {
		f.t.Error(err)
	}
}

func (f *fleet) end(ctx context.Context) error {
	c := &v1alpha1.TalosCluster{ObjectMeta: f.meta(f.name)}
	if err := client.IgnoreNotFound(admin.Delete(ctx, c)); err != nil {
		return err
	}
	var machines v1alpha1.TalosMachineList
	if err := admin.List(ctx, &machines, client.InNamespace(f.ns)); err != nil {
		return err
	}
	for _, m := range machines.Items {
		if err := release(ctx, f.key(m.Name)); err != nil {
			return err
		}
	}
	return errors.Join(f.left(ctx), f.forget(ctx))
}

func release(ctx context.Context, key client.ObjectKey) error {
	m := &v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if err := client.IgnoreNotFound(admin.Patch(ctx, m, allowDelete)); err != nil {
		return err
	}
	return client.IgnoreNotFound(admin.Delete(ctx, m))
}

// left waits until no machine is there.
func (f *fleet) left(ctx context.Context) error {
	return cluster.Until(ctx, "the machines to be let go with their cluster", func(ctx context.Context) error {
		var machines v1alpha1.TalosMachineList
		if err := admin.List(ctx, &machines, client.InNamespace(f.ns)); err != nil {
			return err
		}
		for _, m := range machines.Items {
			return fmt.Errorf("%w: %s", errNotYet, describe(&m))
		}
		return nil
	})
}

// forget deletes the Nodes, which are nobody's namespace's.
func (f *fleet) forget(ctx context.Context) error {
	var errs []error
	for _, n := range f.talos.Nodes() {
		errs = append(errs, client.IgnoreNotFound(admin.Delete(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.NodeName()}})))
	}
	return errors.Join(errs...)
}
