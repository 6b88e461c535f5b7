package backup

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot/stored"
)

// Reconciler follows TalosEtcdBackups.
type Reconciler struct {
	// Client writes; Live reads from the API server itself.
	Client client.Client
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Log    logr.Logger
	// Plane and Source reach control planes, Stores the object stores, and Inspector
	// opens what is read back.
	Plane     Plane
	Source    Source
	Stores    Stores
	Inspector stored.Inspector
	// Scratch is a folder with room for a snapshot in plain for each cluster, which is
	// there while it is opened; empty for the system's.
	Scratch string
	// Version is Quorate's own, for what is written beside a snapshot.
	Version string
	// Metrics may be nil.
	Metrics *Metrics

	metas metas
	turns turns

	mu       sync.Mutex
	patience map[types.UID]patience
	unpruned map[types.UID]stuck
	// answers are the requests that were answered last, also while nobody could be told.
	answers map[types.UID]string
}

// How soon a backup is looked at again.
const (
	soonest = time.Second      // somebody wrote, or another one of the cluster is at work
	unwell  = 30 * time.Second // something stands in the way
	usual   = 30 * time.Minute // the store has no watch
	// takeTimeout bounds one reconcile, whatever hangs: a snapshot of some gigabytes goes
	// twice over a slow line.
	takeTimeout = 2 * time.Hour
)

// step is a named part of a cycle.
type step struct {
	name string
	do   func(*cycle, context.Context) error
}

var steps = []step{
	{"observe", (*cycle).observe},
	{"catalog", (*cycle).catalog},
	{"due", (*cycle).due},
	{"snapshot", (*cycle).snapshot},
	{"prune", (*cycle).prune},
}

// Reconcile looks at one backup and does what is due next.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, takeTimeout)
	defer cancel()
	b := &v1alpha1.TalosEtcdBackup{}
	err := r.Live.Get(ctx, request.NamespacedName, b)
	switch {
	case apierrors.IsNotFound(err):
		r.Metrics.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("get TalosEtcdBackup %s: %w", request.NamespacedName, err)
	case !b.DeletionTimestamp.IsZero():
		return reconcile.Result{}, nil // what is stored stays
	}
	free := r.turns.take(types.NamespacedName{Namespace: b.Namespace, Name: b.Spec.ClusterRef.Name})
	if free == nil {
		return reconcile.Result{RequeueAfter: soonest}, nil
	}
	defer free()
	c := &cycle{Reconciler: r, log: r.Log.WithValues("talosetcdbackup", request.String())}
	c.hold(b)
	return c.run(ctx)
}

// errOver ends the steps: what stands in the way is noted, and said with the status.
var errOver = errors.New("nothing more can be done now")

func (c *cycle) run(ctx context.Context) (reconcile.Result, error) {
	for _, s := range steps {
		err := s.do(c, ctx)
		if errors.Is(err, errOver) {
			break
		}
		if result, end, err := c.written(s.name, err); end {
			return result, err
		}
	}
	if result, end, err := c.written("status", c.status(ctx)); end {
		return result, err
	}
	return reconcile.Result{RequeueAfter: c.again}, nil
}

// written tells whether an error ends the cycle, and how.
func (c *cycle) written(step string, err error) (reconcile.Result, bool, error) {
	switch {
	case err == nil:
		return reconcile.Result{}, false, nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		c.log.V(1).Info("written meanwhile, looking again", "step", step, "why", err.Error())
		return reconcile.Result{RequeueAfter: soonest}, true, nil
	}
	return reconcile.Result{}, true, fmt.Errorf("%s: %w", step, err)
}

// turns lets one backup of a cluster work at a time.
type turns struct {
	mu    sync.Mutex
	taken map[types.NamespacedName]bool
}

// take gives what ends the turn; nil if somebody else has it.
func (t *turns) take(cluster types.NamespacedName) func() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken[cluster] {
		return nil
	}
	if t.taken == nil {
		t.taken = map[types.NamespacedName]bool{}
	}
	t.taken[cluster] = true
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.taken, cluster)
	}
}
