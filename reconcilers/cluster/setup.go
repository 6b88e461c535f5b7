package cluster

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

const (
	// concurrency is how many clusters are looked at at once: they wait for etcd most of
	// the time.
	concurrency = 16
	// firstRetry and lastRetry bound the wait after an error.
	firstRetry = 500 * time.Millisecond
	lastRetry  = time.Minute
)

// Setup lets the manager run the reconciler. Its own writes of the status do not wake
// it.
func (r *Reconciler) Setup(m ctrl.Manager) error {
	skip := true // a manager that lost its lease is followed by another one in this process
	err := ctrl.NewControllerManagedBy(m).
		Named("taloscluster").
		For(&v1alpha1.TalosCluster{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}, predicate.LabelChangedPredicate{}))).
		Watches(&v1alpha1.TalosMachine{}, handler.EnqueueRequestsFromMapFunc(clusterOf)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency, SkipNameValidation: &skip,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the reconciler of TalosClusters: %w", err)
	}
	return nil
}

// clusterOf is the TalosCluster of a machine.
func clusterOf(_ context.Context, o client.Object) []reconcile.Request {
	m, ok := o.(*v1alpha1.TalosMachine)
	if !ok {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: m.Namespace, Name: m.Spec.ClusterRef.Name}}}
}
