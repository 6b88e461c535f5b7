package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Reconciler follows TalosClusters.
type Reconciler struct {
	// Client writes; Live reads from the API server itself.
	Client client.Client
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Log    logr.Logger
	// Plane reaches control planes, Dial a node of one.
	Plane Plane
	Dial  Dial
	// Lock takes a cluster's lock.
	Lock Lock
	// Gate holds removals up while a restore is on its way; nil where nothing is ever
	// restored.
	Gate Gate
	// Grace is how long a member that no machine explains may be listed before it is
	// told of, or removed again; 0 is DefaultGrace.
	Grace time.Duration
	// Metrics may be nil.
	Metrics *Metrics

	seen sightings
}

// DefaultGrace has room for a person who approves a machine while it joins.
const DefaultGrace = 2 * time.Minute

// How soon a cluster is looked at again.
const (
	soonest = 200 * time.Millisecond // something was asked for, or somebody wrote
	unwell  = 5 * time.Second        // something is not as it should be
	usual   = 15 * time.Second       // health has no watch
	// cycleTimeout bounds one reconcile, whatever hangs.
	cycleTimeout = 30 * time.Second
)

// step is a named part of a cycle.
type step struct {
	name string
	do   func(*cycle, context.Context) error
}

var steps = []step{
	{"observe", (*cycle).observe},
	{"ledger", (*cycle).ledger},
	{"audit", (*cycle).sift},
	{"rejoined", (*cycle).rejoined},
	{"status", (*cycle).status},
}

// Reconcile looks at one cluster and does what is due next.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, cycleTimeout)
	defer cancel()
	cluster := &v1alpha1.TalosCluster{}
	err := r.Live.Get(ctx, request.NamespacedName, cluster)
	switch {
	case apierrors.IsNotFound(err):
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	case err != nil:
		return reconcile.Result{}, fmt.Errorf("get TalosCluster %s: %w", request.NamespacedName, err)
	case !cluster.DeletionTimestamp.IsZero():
		return reconcile.Result{}, nil // its machines go on their own
	}
	c := &cycle{Reconciler: r, log: r.Log.WithValues("taloscluster", request.String()), hindered: map[uint64]string{}}
	c.take(cluster)
	return c.run(ctx)
}

// errOver ends a cycle early: the cluster is gone, or is another one.
var errOver = errors.New("the cycle is over")

func (c *cycle) run(ctx context.Context) (reconcile.Result, error) {
	for _, s := range steps {
		err := s.do(c, ctx)
		switch {
		case errors.Is(err, errOver):
			return reconcile.Result{RequeueAfter: soonest}, nil
		case apierrors.IsConflict(err):
			// Somebody wrote meanwhile: all that was decided is old.
			c.log.V(1).Info("written meanwhile, looking again", "step", s.name, "why", err.Error())
			return reconcile.Result{RequeueAfter: soonest}, nil
		case err != nil:
			return reconcile.Result{}, fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return reconcile.Result{RequeueAfter: c.again}, nil
}

func (r *Reconciler) grace() time.Duration {
	if r.Grace == 0 {
		return DefaultGrace
	}
	return r.Grace
}
