package backup

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

const (
	// concurrency is how many backups are at work at once: each may have a snapshot in
	// plain in the scratch folder.
	concurrency = 4
	// firstRetry and lastRetry bound the wait after an error.
	firstRetry = time.Second
	lastRetry  = time.Minute
)

// Setup lets the manager run the reconciler. Its own writes of the status do not wake
// it.
func (r *Reconciler) Setup(m ctrl.Manager) error {
	skip := true // a manager that lost its lease is followed by another one in this process
	err := ctrl.NewControllerManagedBy(m).
		Named("talosetcdbackup").
		For(&v1alpha1.TalosEtcdBackup{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency, SkipNameValidation: &skip,
			RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the reconciler of TalosEtcdBackups: %w", err)
	}
	return nil
}
