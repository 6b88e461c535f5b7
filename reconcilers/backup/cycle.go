package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

// cycle is one reconcile of one backup: what was read, and what is to be said.
type cycle struct {
	*Reconciler
	log    logr.Logger
	backup *v1alpha1.TalosEtcdBackup
	before *v1alpha1.TalosEtcdBackup // as it was read or last written
	again  time.Duration

	cluster  *v1alpha1.TalosCluster
	bundle   *talos.Bundle
	machines []v1alpha1.TalosMachine
	keys     Keys

	store store.Store
	seen  *Catalog // nil while the store was not read
	// wanted says that a snapshot is due, and requested for which request; empty if by
	// the schedule.
	wanted    bool
	requested string
	// undoOf is the restore that the snapshot leads back from; empty for an ordinary one.
	undoOf  string
	dueAt   time.Time
	trouble *trouble
}

// trouble is what stands in the way. What is for a person to heal stalls the backup.
type trouble struct {
	reason, text string
	stalls       bool
}

func (c *cycle) hold(b *v1alpha1.TalosEtcdBackup) { c.backup, c.before = b, b.DeepCopy() }

// soon asks for another look after a time; the shortest wish wins.
func (c *cycle) soon(d time.Duration) {
	d = max(d, soonest)
	if c.again == 0 || d < c.again {
		c.again = d
	}
}

// stop notes what stands in the way, and ends the steps.
func (c *cycle) stop(t trouble) error {
	c.trouble = &t
	c.soon(unwell)
	return errOver
}

// observe reads what the cluster is, and opens the store.
func (c *cycle) observe(ctx context.Context) error {
	name := types.NamespacedName{Namespace: c.backup.Namespace, Name: c.backup.Spec.ClusterRef.Name}
	c.cluster = &v1alpha1.TalosCluster{}
	err := c.Live.Get(ctx, name, c.cluster)
	switch {
	case apierrors.IsNotFound(err):
		return c.stop(trouble{v1alpha1.ReasonClusterNotFound, fmt.Sprintf("There is no TalosCluster %s to back up: create it, or delete this backup.", name.Name), true})
	case err != nil:
		return fmt.Errorf("get TalosCluster %s: %w", name, err)
	}
	if c.store, err = c.Stores(ctx, c.backup); err != nil {
		return c.failed(err)
	}
	if c.bundle, err = c.Plane.Bundle(ctx, c.cluster); err != nil {
		return c.failed(err)
	}
	if c.keys, err = KeysOf(ctx, c.Live, c.cluster); err != nil {
		return c.failed(err)
	}
	c.machines, err = c.Plane.Machines(ctx, c.backup.Namespace, c.cluster.Name)
	return err
}

// failed notes an error that has a reason, and gives back one that has none.
func (c *cycle) failed(err error) error {
	if t, ok := judge(err); ok {
		return c.stop(t)
	}
	return err
}

// catalog reads what is in the store. While a restore's marker is there, nothing is
// written: etcd may be away, or be another one soon.
func (c *cycle) catalog(ctx context.Context) error {
	if err := c.look(ctx); err != nil {
		return c.failed(err)
	}
	return c.unmarked(ctx)
}

// unmarked ends the steps while a restore's marker is there.
func (c *cycle) unmarked(ctx context.Context) error {
	switch _, err := c.store.Stat(ctx, markerName); {
	case err == nil:
		return c.stop(trouble{v1alpha1.ReasonRestoreInProgress,
			fmt.Sprintf("A restore is on its way, as its marker %s beside the snapshots says: no snapshot is taken and none removed before its end.", markerName), false})
	case !errors.Is(err, store.ErrNotFound):
		return c.failed(err)
	}
	return nil
}

func (c *cycle) look(ctx context.Context) error {
	of := owner{c.backup.Namespace, c.cluster.Name, c.bundle.ClusterID()}
	seen, known, err := read(ctx, c.store, of, c.metas.take(c.backup.UID))
	if err != nil {
		return err
	}
	c.seen = &seen
	c.metas.keep(c.backup.UID, known)
	return nil
}

// maxRequest is what the API takes of an echo, in bytes.
const maxRequest = 253

// due decides whether a snapshot is to be taken now.
func (c *cycle) due(context.Context) error {
	now := c.Clock.Now()
	after := c.seen.latest(now)
	if created := c.backup.CreationTimestamp.Time; created.After(after) {
		after = created
	}
	at, err := next(c.backup.Spec.Schedule, after)
	if err != nil {
		return c.stop(trouble{v1alpha1.ReasonScheduleUnusable, conditions.Sentence(err) + " Correct it: five cron fields in UTC, or @hourly, @daily, @weekly.", true})
	}
	c.dueAt = at
	switch asked := conditions.Cut(c.backup.Annotations[v1alpha1.AnnotationBackupRequested], maxRequest); {
	case asked == c.backup.Status.ObservedBackupRequest:
	case asked == c.answer(c.backup.UID): // it could not be said then
		c.backup.Status.ObservedBackupRequest = asked
	default:
		c.requested = asked
	}
	c.wanted = c.requested != "" || !at.After(now)
	return nil
}

func (r *Reconciler) waits(of types.UID) patience {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.patience[of]
}

// tried notes how an attempt ended.
func (r *Reconciler) tried(of types.UID, now time.Time, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.patience, of)
		return
	}
	if r.patience == nil {
		r.patience = map[types.UID]patience{}
	}
	r.patience[of] = patience{r.patience[of].failures + 1, now}
}

func (r *Reconciler) answer(of types.UID) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answers[of]
}

func (r *Reconciler) answered(of types.UID, request string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = map[types.UID]string{}
	}
	r.answers[of] = request
}
