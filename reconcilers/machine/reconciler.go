package machine

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
	"github.com/quorate/quorate/internal/kube"
)

// Reconciler follows TalosMachines.
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
	// Gate holds destructive steps up while a restore is on its way; nil where nothing
	// is ever restored.
	Gate Gate
	// Judge has the admission rules, Objects what they read.
	Judge   Judge
	Objects kube.Reader
	Drainer Drainer
	// Evacuate moves storage off a node before it is drained; nil for Holds.
	Evacuate Evacuate

	work works
}

// How soon a machine is looked at again.
const (
	soonest = 200 * time.Millisecond // something was asked for, and is to be seen
	busy    = time.Second            // something is on its way
	blocked = 5 * time.Second        // something stands in the way
	usual   = 30 * time.Second       // health has no watch
	// cycleTimeout bounds one reconcile, whatever hangs.
	cycleTimeout = 2 * time.Minute
)

// step is a named part of a cycle.
type step struct {
	name string
	do   func(*cycle, context.Context) error
}

// steady is the way of a machine that stays.
var steady = []step{
	{"cluster", (*cycle).findCluster},
	{"finalizer", (*cycle).finalizer},
	{"visit", (*cycle).visit},
	{"status", (*cycle).status},
}

// removal is the way of one that is deleted. Each cycle goes it from the start: what
// is done already is seen as done.
var removal = []step{
	{"cluster", (*cycle).findCluster},
	{"release", (*cycle).release},
	{"survey", (*cycle).survey},
	{"resolve", (*cycle).resolve},
	{"approve", (*cycle).approve},
	{"restore", (*cycle).untouched},
	{"evacuate", (*cycle).evacuate},
	{"drain", (*cycle).drain},
	{"member", (*cycle).member},
	{"finish", (*cycle).finish},
}

// Reconcile looks at one machine and does what is due next.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, cycleTimeout)
	defer cancel()
	m := &v1alpha1.TalosMachine{}
	if err := r.Live.Get(ctx, request.NamespacedName, m); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("get TalosMachine %s: %w", request.NamespacedName, err)
	}
	c := &cycle{Reconciler: r, machine: m, read: m.DeepCopy(), log: r.Log.WithValues("machine", request.String())}
	switch {
	case m.DeletionTimestamp.IsZero():
		return c.run(ctx, steady)
	case c.held():
		return c.run(ctx, removal)
	}
	return reconcile.Result{}, nil
}

// errOver ends a cycle early: there is nothing more to do now.
var errOver = errors.New("the cycle is over")

func (c *cycle) run(ctx context.Context, list []step) (reconcile.Result, error) {
	for _, s := range list {
		err := s.do(c, ctx)
		switch {
		case errors.Is(err, errOver):
			return reconcile.Result{RequeueAfter: c.again}, nil
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
