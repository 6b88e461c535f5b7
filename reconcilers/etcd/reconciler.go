package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Reconciler follows Etcds.
type Reconciler struct {
	// Client reads from the cache and writes; Live reads from the API server itself.
	Client client.Client
	Live   client.Reader
	Events events.EventRecorder
	Clock  clock.PassiveClock
	Log    logr.Logger
	Images Images
	// LearnerGrace is how long a learner whose pod cannot run may hold up the others;
	// 0 is DefaultLearnerGrace.
	LearnerGrace time.Duration
	// Dial reaches etcd; nil for internal/etcd.
	Dial Dial
	// Gate holds destructive steps up while a restore is on its way; nil where nothing
	// is ever restored.
	Gate Gate
	// Metrics may be nil.
	Metrics *Metrics

	applied appliedObjects
}

// How soon an Etcd is looked at again.
const (
	soonest   = 200 * time.Millisecond // a step was done, the next one is due
	busy      = 2 * time.Second        // something outside is waited for
	usual     = 30 * time.Second       // health has no watch
	blocked   = 5 * time.Second        // the first wait after a refusal
	blockedAt = time.Minute            // and the longest one
	// cycleTimeout bounds one reconcile, whatever hangs.
	cycleTimeout = 2 * time.Minute
)

// step is a named part of a cycle. An error ends the cycle; what only stands in the
// way of a membership change is a failure of the cycle and holds up nothing else.
type step struct {
	name string
	do   func(*cycle, context.Context) error
}

var steps = []step{
	{"observe", (*cycle).observe},
	{"start", (*cycle).start},
	{"finalizer", (*cycle).finalizer},
	{"join", (*cycle).join},
	{"detect", (*cycle).detect},
	{"look", (*cycle).look},
	{"remove", (*cycle).remove},
	{"sync", (*cycle).sync},
	{"replace", (*cycle).replace},
	{"roll", (*cycle).roll},
	{"prune", (*cycle).prune},
	{"status", (*cycle).status},
	{"finish", (*cycle).finish},
}

// Reconcile looks at one Etcd and does what is due next.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, cycleTimeout)
	defer cancel()
	e := &v1alpha1.Etcd{}
	if err := r.Live.Get(ctx, request.NamespacedName, e); err != nil {
		if apierrors.IsNotFound(err) {
			r.forget(request.NamespacedName)
			return reconcile.Result{}, nil
		}
		return reconcile.Result{}, fmt.Errorf("get Etcd %s: %w", request.NamespacedName, err)
	}
	c := &cycle{Reconciler: r, names: names{e}, etcd: e, read: e.DeepCopy(), runID: string(uuid.NewUUID())}
	c.log = r.Log.WithValues("etcd", request.String(), "run", c.runID)
	list := steps
	if !e.DeletionTimestamp.IsZero() {
		list = deletion
	}
	return c.run(ctx, list)
}

// errOver ends a cycle early: there is nothing more to do.
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
	if c.again == 0 {
		c.again = usual
	}
	return reconcile.Result{RequeueAfter: c.again}, nil
}
