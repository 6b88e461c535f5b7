package backup

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/store"
)

// prune removes the oldest beyond the retention, and what has not been whole for a day.
// An error of it is told until it is over, and tried again with growing pauses; no
// snapshot is put off by it.
func (c *cycle) prune(ctx context.Context) error {
	was := c.stuckAt(c.backup.UID)
	if was.patience.until().After(c.Clock.Now()) {
		return c.stuck(was)
	}
	gone, err := c.remove(ctx)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err) // it is no word on the store
	}
	if errors.Is(err, errOver) {
		return err
	}
	if err != nil {
		return c.stuck(c.notPruned(c.backup.UID, unpruned(err)))
	}
	c.pruned(c.backup.UID)
	c.sweep(ctx)
	if gone > 0 {
		return c.failedOrNil(c.look(ctx))
	}
	return nil
}

// remove tells how many snapshots are gone. Of one that goes, what lies beside it goes
// first: it is not listed from then on, and what is left is a leftover.
func (c *cycle) remove(ctx context.Context) (gone int, err error) {
	now := c.Clock.Now()
	surplus, leftovers := c.seen.surplus(int(c.backup.Spec.Retention), now), c.seen.leftovers(now)
	if len(surplus)+len(leftovers) == 0 {
		return 0, nil
	}
	ordered, err := c.ordered(ctx)
	if err != nil {
		return 0, err
	}
	if err := c.unmarked(ctx); err != nil {
		return 0, err
	}
	var errs []error
	for _, e := range surplus {
		if ordered[e.Name] {
			continue
		}
		err := c.store.Remove(ctx, e.MetaObject.Name, e.MetaObject.Version)
		if err == nil {
			gone++
			err = c.store.Delete(ctx, e.Name)
		}
		errs = append(errs, err)
	}
	for _, o := range leftovers {
		errs = append(errs, c.removeLeftover(ctx, o))
	}
	return gone, errors.Join(errs...)
}

// ordered are the snapshots that operations of the cluster name which are not at their
// end.
func (c *cycle) ordered(ctx context.Context) (map[string]bool, error) {
	all := &v1alpha1.TalosOperationList{}
	if err := c.Live.List(ctx, all, client.InNamespace(c.backup.Namespace)); err != nil {
		return nil, fmt.Errorf("list TalosOperations: %w", err)
	}
	names := map[string]bool{}
	for _, op := range all.Items {
		if r := op.Spec.EtcdRestore; r != nil && op.Spec.ClusterRef.Name == c.cluster.Name && op.Status.Phase != v1alpha1.PhaseCompleted {
			names[r.Snapshot] = true
		}
	}
	return names, nil
}

// sweep frees what writers left that died. It needs a right of its own, and nothing but
// room depends on it.
func (c *cycle) sweep(ctx context.Context) {
	s, ok := c.store.(store.Sweeper)
	if !ok || !c.wanted {
		return
	}
	if err := s.Sweep(ctx, c.Clock.Now().Add(-leftoverAge)); err != nil {
		c.log.Error(err, "could not remove what is left of uploads that were broken off: they take room in the bucket; the credentials may need s3:ListBucketMultipartUploads and s3:AbortMultipartUpload")
	}
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

// stuck is what stood in the way of removing, and how often in a row.
type stuck struct {
	patience patience
	trouble  trouble
}

// stuck says what stands in the way, and asks for the next attempt. What is due comes in
// its time.
func (c *cycle) stuck(s stuck) error {
	c.trouble = &s.trouble
	c.soon(s.patience.until().Sub(c.Clock.Now()))
	if c.waits(c.backup.UID).failures == 0 {
		c.soon(c.dueAt.Sub(c.Clock.Now()))
	}
	return errOver
}

// unpruned is what an error of removing means.
func unpruned(err error) trouble {
	err = fmt.Errorf("remove old snapshots: %w", err)
	if t, ok := judge(err); ok {
		return t
	}
	return trouble{v1alpha1.ReasonStoreUnusable, "Snapshots are taken, and old ones could not be removed: " + conditions.Sentence(err) + " It is tried again.", false}
}

func (r *Reconciler) stuckAt(of types.UID) stuck {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unpruned[of]
}

// notPruned notes an attempt that failed.
func (r *Reconciler) notPruned(of types.UID, t trouble) stuck {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unpruned == nil {
		r.unpruned = map[types.UID]stuck{}
	}
	s := stuck{patience{r.unpruned[of].patience.failures + 1, r.Clock.Now()}, t}
	r.unpruned[of] = s
	return s
}

func (r *Reconciler) pruned(of types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.unpruned, of)
}
