package machine

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

// concurrency is how many machines are looked at at once: they wait most of the time,
// and one that does not answer must not hold up others.
const concurrency = 16

// Setup lets the manager run the reconciler.
func (r *Reconciler) Setup(m ctrl.Manager) error {
	skip := true // a manager that lost its lease is followed by another one in this process
	changes := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	err := ctrl.NewControllerManagedBy(m).
		Named("machine").
		For(&v1alpha1.TalosMachine{}, builder.WithPredicates(changes)).
		Watches(&v1alpha1.TalosCluster{}, handler.EnqueueRequestsFromMapFunc(r.machinesOf), builder.WithPredicates(changes)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency, SkipNameValidation: &skip,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](500*time.Millisecond, time.Minute),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the reconciler of TalosMachines: %w", err)
	}
	return nil
}

// machinesOf are those of a cluster: a changed count may free one that is deleted.
func (r *Reconciler) machinesOf(ctx context.Context, cluster client.Object) (out []reconcile.Request) {
	var list v1alpha1.TalosMachineList
	if err := r.Client.List(ctx, &list, client.InNamespace(cluster.GetNamespace())); err != nil {
		r.Log.Error(err, "list the machines of a cluster", "cluster", cluster.GetName())
		return nil
	}
	for _, m := range list.Items {
		if m.Spec.ClusterRef.Name == cluster.GetName() {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: m.Namespace, Name: m.Name}})
		}
	}
	return out
}
