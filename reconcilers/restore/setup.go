package restore

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

// concurrency is how many operations are looked at at once: one that prepares takes its
// time.
const concurrency = 4

// Setup lets the manager run the reconciler.
func (r *Reconciler) Setup(m ctrl.Manager) error {
	skip := true // a manager that lost its lease is followed by another one in this process
	changes := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	err := ctrl.NewControllerManagedBy(m).
		Named("operation").
		For(&v1alpha1.TalosOperation{}, builder.WithPredicates(changes)).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency, SkipNameValidation: &skip,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](500*time.Millisecond, 30*time.Second),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the reconciler of TalosOperations: %w", err)
	}
	return nil
}
