package backup

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
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
	if err := c.taken(ctx, meta); err != nil {
		return err
	}
	return c.failedOrNil(c.look(ctx))
}

// taken says at once that a snapshot was taken, and which request it answers: whatever
// fails afterwards, it is not taken again.
func (c *cycle) taken(ctx context.Context, meta snapshot.Meta) error {
	c.seen.add(Entry{Meta: meta})
	c.backup.Status.Snapshots = c.seen.snapshots()
	if c.requested != "" {
		c.answered(c.backup.UID, c.requested)
		c.backup.Status.ObservedBackupRequest = c.requested
	}
	return c.persist(ctx)
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
	return c.stop(trouble{v1alpha1.ReasonSnapshotFailed, "No snapshot could be taken: " + conditions.Sentence(err), false})
}

// judge is what an error means to whoever reads the status; false for one of the API
// server.
func judge(err error) (trouble, bool) {
	for _, known := range judgements {
		if errors.Is(err, known.is) {
			return trouble{known.reason, known.begins + conditions.Sentence(err) + known.way, known.stalls}, true
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
