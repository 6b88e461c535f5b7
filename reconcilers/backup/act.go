package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// markerName is a restore's, beside the snapshots. Package restore writes it.
const markerName = "etcd-restore.marker.json"

// snapshot takes one if it is due, and says so first: it may take minutes.
func (c *cycle) snapshot(ctx context.Context) error {
	if !c.wanted {
		return nil
	}
	if wait := c.waits(c.backup.UID).until().Sub(c.Clock.Now()); wait > 0 {
		c.soon(wait)
		return nil
	}
	if c.seen.has(snapshot.SnapshotName(c.Clock.Now())) {
		c.soon(soonest) // names tell seconds apart
		return nil
	}
	c.set(v1alpha1.ConditionReconciling, metav1.ConditionTrue, v1alpha1.ReasonInProgress, fmt.Sprintf("Taking a snapshot of TalosCluster %s.", c.cluster.Name))
	if err := c.persist(ctx); err != nil {
		return err
	}
	began := c.Clock.Now()
	meta, err := c.take(ctx)
	c.tried(c.backup.UID, c.Clock.Now(), err)
	c.Metrics.took(c.backup, c.Clock.Since(began), err)
	if err != nil {
		c.soon(c.waits(c.backup.UID).until().Sub(c.Clock.Now()))
		return c.notTaken(err)
	}
	c.log.Info("took a snapshot", "name", meta.Name, "revision", meta.Revision, "bytes", meta.Size)
	if c.requested != "" {
		c.backup.Status.ObservedBackupRequest = c.requested
	}
	return c.failedOrNil(c.look(ctx))
}

func (c *cycle) failedOrNil(err error) error {
	if err == nil {
		return nil
	}
	return c.failed(err)
}

// notTaken notes why; nothing is pruned for want of a newer one.
func (c *cycle) notTaken(err error) error {
	if t, ok := judge(err); ok {
		return c.stop(t)
	}
	return c.stop(trouble{v1alpha1.ReasonSnapshotFailed, "No snapshot could be taken: " + sentence(err), false})
}

// prune removes the oldest beyond the retention, and what has not been whole for a day.
// Of a snapshot that goes, what lies beside it goes first: it is not listed from then on,
// and what is left is a leftover.
func (c *cycle) prune(ctx context.Context) error {
	now := c.Clock.Now()
	var errs []error
	gone := 0
	for _, e := range c.seen.surplus(int(c.backup.Spec.Retention), now) {
		err := c.store.Remove(ctx, e.MetaObject.Name, e.MetaObject.Version)
		if err == nil {
			gone++
			err = c.store.Delete(ctx, e.Name)
		}
		errs = append(errs, err)
	}
	for _, o := range c.seen.leftovers(now) {
		errs = append(errs, c.removeLeftover(ctx, o))
	}
	if s, ok := c.store.(store.Sweeper); ok && c.wanted {
		errs = append(errs, s.Sweep(ctx, now.Add(-leftoverAge)))
	}
	if err := errors.Join(errs...); err != nil {
		return c.failedOrNil(fmt.Errorf("remove old snapshots: %w", err))
	}
	if gone > 0 {
		return c.failedOrNil(c.look(ctx))
	}
	return nil
}

// removeLeftover removes it as it was seen: another one may be written by that name.
func (c *cycle) removeLeftover(ctx context.Context, o store.Info) error {
	c.log.Info("removing what is not whole", "name", o.Name, "since", o.Modified.UTC().Format(time.RFC3339))
	err := c.store.Remove(ctx, o.Name, o.Version)
	if errors.Is(err, store.ErrChanged) {
		return nil
	}
	return err
}

// judge is what an error means to whoever reads the status; false for one of the API
// server.
func judge(err error) (trouble, bool) {
	for _, known := range judgements {
		if errors.Is(err, known.is) {
			return trouble{known.reason, known.begins + sentence(err) + known.way, known.stalls}, true
		}
	}
	return trouble{}, false
}

var judgements = []struct {
	is          error
	reason      string
	begins, way string
	stalls      bool
}{
	{store.ErrSettings, v1alpha1.ReasonStoreUnusable, "The object store cannot be used: ", "", true},
	{store.ErrDenied, v1alpha1.ReasonStoreUnusable, "The object store refuses the credentials: ", " Correct them in the Secret of spec.objectStore.credentialsRef, or what they are allowed.", true},
	{store.ErrUnreachable, v1alpha1.ReasonStoreUnreachable, "The object store does not answer: ", " It is asked again.", false},
	{errBundle, v1alpha1.ReasonBundleUnusable, "No snapshot can be encrypted: ", "", true},
	{snapshot.ErrDamaged, v1alpha1.ReasonSnapshotDamaged, "A snapshot is no good and is not listed: ", " Another one is taken.", false},
	{errNobody, v1alpha1.ReasonSnapshotFailed, "No snapshot could be taken: ", "", true},
}
