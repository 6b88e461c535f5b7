package restore

import (
	"cmp"
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
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
)

// Reconciler carries out TalosOperations of kind etcd-restore.
type Reconciler struct {
	// Client writes; Live reads from the API server itself.
	Client client.Client
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Log    logr.Logger
	// Lock takes a cluster's lock, Stores reaches a backup's objects.
	Lock   Lock
	Stores Stores
	// Preparing comes before anything is destroyed, Jobs destroy and recover.
	Preparing Preparing
	Jobs      Jobs
	// Recovered asks the etcd of a restore's target how it is.
	Recovered func(ctx context.Context, cluster *v1alpha1.TalosCluster, m *restore.Marker) (restore.Probe, error)
	// Limits are how long things may take.
	Limits Limits
	// Recover is what finishes a restore without Kubernetes, by a backup's store, for
	// messages.
	Recover func(*v1alpha1.TalosEtcdBackup) restoring.Recovery
}

// Limits are how long things may take; 0 is the default.
type Limits struct {
	// All is how long a restore may take from when it began (150m), Agents how long it
	// waits for the nodes that were not wiped (10m).
	All, Agents time.Duration
}

func (l Limits) all() time.Duration    { return cmp.Or(l.All, 150*time.Minute) }
func (l Limits) agents() time.Duration { return cmp.Or(l.Agents, 10*time.Minute) }

// How soon an operation is looked at again.
const (
	soonest = 200 * time.Millisecond // somebody wrote meanwhile
	busy    = 2 * time.Second        // something is on its way
	blocked = 10 * time.Second       // something stands in the way
	// cycleTimeout bounds one reconcile; preparing reads, checks and writes a whole
	// snapshot several times.
	cycleTimeout = 45 * time.Minute
)

// errOver ends a cycle early: there is nothing more to do now.
var errOver = errors.New("the cycle is over")

// does is what each way comes to.
var does = map[way]func(*cycle, context.Context) error{
	wayOver: (*cycle).over, wayHeld: (*cycle).stayHeld, wayRelease: (*cycle).release, wayPrepare: (*cycle).prepare,
	wayStuck: (*cycle).nothing, wayJob: (*cycle).followJob, wayPaused: (*cycle).stayPaused, wayRetry: (*cycle).retry,
	wayTail: (*cycle).tail, wayComplete: (*cycle).complete, wayAstray: (*cycle).astray, wayBehind: (*cycle).standBehind, wayUnknown: (*cycle).awaitStore,
	wayRefuse: (*cycle).refuse, wayForget: (*cycle).forget, wayDrop: (*cycle).drop,
}

// Reconcile looks at one operation and does what is due next.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, cycleTimeout)
	defer cancel()
	op := &v1alpha1.TalosOperation{}
	if err := r.Live.Get(ctx, request.NamespacedName, op); err != nil {
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("get TalosOperation %s: %w", request.NamespacedName, err)
	}
	if op.Spec.Kind != v1alpha1.OperationEtcdRestore || op.Spec.EtcdRestore == nil {
		return reconcile.Result{}, nil
	}
	c := &cycle{Reconciler: r, op: op, read: op.DeepCopy(), log: r.Log.WithValues("operation", request.String())}
	return c.run(ctx)
}

func (c *cycle) run(ctx context.Context) (reconcile.Result, error) {
	err := c.find(ctx)
	if err == nil {
		chosen := choose(c.facts())
		c.log.V(1).Info("looked at", "way", string(chosen))
		if err = does[chosen](c, ctx); err != nil && !errors.Is(err, errOver) {
			err = fmt.Errorf("%s: %w", chosen, err)
		}
	}
	switch {
	case err == nil, errors.Is(err, errOver):
		return reconcile.Result{RequeueAfter: c.again}, nil
	case apierrors.IsConflict(err):
		c.log.V(1).Info("written meanwhile, looking again", "why", err.Error())
		return reconcile.Result{RequeueAfter: soonest}, nil
	}
	return reconcile.Result{}, err
}
