package restore

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/restore/running"
	"github.com/quorate/quorate/internal/store"
)

// Hold is a cluster's lock, held.
type Hold interface {
	// Check fails unless it is held still, and renews it in time.
	Check(context.Context) error
	Release(context.Context) error
}

// Lock takes a cluster's lock; lease.ErrHeld if somebody else has it.
type Lock func(ctx context.Context, cluster types.NamespacedName, operation string) (Hold, error)

// LockBy takes Leases.
func LockBy(l *lease.Locks) Lock {
	return func(ctx context.Context, cluster types.NamespacedName, operation string) (Hold, error) {
		held, err := l.Take(ctx, cluster, operation)
		if err != nil {
			return nil, err
		}
		return held, nil
	}
}

// Stores gives the store of a backup; store.ErrSettings where its settings are wrong.
type Stores func(ctx context.Context, backup *v1alpha1.TalosEtcdBackup) (store.Store, error)

// Preparing makes everything ready that a restore needs before it destroys anything,
// and the marker last. Whatever it fails with, it has changed nothing and leaves
// nothing behind; Blocked is for the reasons that a person has to see to.
type Preparing interface {
	// Prepare tells what it does in say. check fails once the cluster's lock is lost.
	Prepare(ctx context.Context, o Order, check func(context.Context) error, say func(string)) (*restore.Marker, error)
}

// Order is what is restored.
type Order struct {
	Operation *v1alpha1.TalosOperation
	Cluster   *v1alpha1.TalosCluster
	Backup    *v1alpha1.TalosEtcdBackup
	Store     store.Store
	// Marker is another restore's that is in the store; nil without one.
	Marker *restore.Marker
}

// Jobs run in this process and outlive the term of the controllers: the API goes away
// while they work.
type Jobs interface {
	// Start runs the job of the cluster's marker, unless it runs. The secrets are read
	// now, while the API answers.
	Start(ctx context.Context, cluster *v1alpha1.TalosCluster, backup *v1alpha1.TalosEtcdBackup, m *restore.Marker) error
	// Begun closes the gate of the cluster, before there is a job: its marker is written.
	Begun(cluster types.NamespacedName)
	// State is how the cluster's job is; false if this process has had none.
	State(cluster types.NamespacedName) (JobState, bool)
	// End stops the cluster's job and erases its folder.
	End(ctx context.Context, cluster types.NamespacedName) error
}

// JobState is how a job is.
type JobState = running.State
