package restore

import (
	"context"
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
)

// followJob has the job of the marker run in this process, and says how it is.
func (c *cycle) followJob(ctx context.Context) error {
	c.mirror()
	state, known := c.Jobs.State(c.clusterKey())
	if c.cluster == nil && !state.Running { // a job that runs needs none
		return c.pause(ctx, fmt.Sprintf("There is no TalosCluster %s any more, whose nodes the restore goes on with. %s", c.clusterKey(), c.wayOut()))
	}
	if err := c.finalizer(ctx); err != nil {
		return err
	}
	if known && !state.Running {
		if over, err := c.jobEnded(ctx, state); over {
			return err
		}
	}
	if !state.Running {
		if err := c.Jobs.Start(ctx, c.cluster, c.backup, c.marker); err != nil {
			c.stalled(v1alpha1.ReasonRestoreWaits, fmt.Sprintf("The restore cannot go on: %s. It is tried again. %s", oneLine(err), c.wayOut()))
			return c.rest(ctx, blocked)
		}
	}
	c.onward(string(c.marker.Step), c.jobSays(state))
	return c.rest(ctx, busy)
}

// jobSays is what the job does or waits for. What it saved is older than what it says.
func (c *cycle) jobSays(state JobState) string {
	note := c.marker.LastNote
	if state.Running && state.Progress.Note != "" {
		note = state.Progress.Note
	}
	if note == "" {
		note = "the job begins"
	}
	return fmt.Sprintf("%s: %s.", c.marker.Step, note) + stayOff(c.marker)
}

// jobEnded says how this process's job ended, where the marker does not say it. over is
// false where the job is to be started again.
func (c *cycle) jobEnded(ctx context.Context, state JobState) (over bool, _ error) {
	r := state.Result
	switch {
	case state.Err == nil && r.Outcome == restore.Lost && r.Retry.After(c.Clock.Now()):
		c.onward(v1alpha1.ReasonRestoreWaits, fmt.Sprintf("%s: another process is at work: %s.", c.marker.Step, r.Why))
		return true, c.rest(ctx, busy)
	case state.Err == nil && r.Outcome == restore.Paused && r.Marker.Fence >= c.marker.Fence && r.Marker.Sequence > c.marker.Sequence:
		// The store was away when it gave up: a release goes by what the store has.
		c.marker.Failure = r.Marker.Failure
		if err := c.saveMarker(ctx); err != nil {
			return true, err
		}
		return true, c.pause(ctx, c.marker.Failure+" "+c.wayOut())
	}
	return false, nil
}

// stayPaused says why the job gave up. It is never tried again by itself.
func (c *cycle) stayPaused(ctx context.Context) error {
	c.mirror()
	return c.pause(ctx, c.marker.Failure+" "+c.wayOut())
}

// retry has the restore go on, as a person asked.
func (c *cycle) retry(ctx context.Context) error {
	c.marker.Failure, c.marker.LimitsFrom, c.marker.TargetWipes = "", c.Clock.Now(), 0
	if err := c.saveMarker(ctx); err != nil {
		return err
	}
	c.mirror()
	c.onward(string(c.marker.Step), "A person has the restore go on.")
	c.normal(v1alpha1.ReasonRestoreResumed, "The restore goes on, as a person asked.")
	if err := c.persist(ctx); err != nil {
		return err
	}
	return c.unannotate(ctx)
}

func (c *cycle) saveMarker(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	version, err := (restore.Markers{Store: c.store}).Save(ctx, c.marker, c.version)
	if err != nil {
		return err
	}
	c.version = version
	return nil
}

// wayOut is how a restore ends that cannot go on here. It ends with the command, which
// names the snapshot of the marker: with a marker no other one is taken.
func (c *cycle) wayOut() string {
	way := restoring.Recovery{}
	if c.backup != nil {
		way = c.Recover(c.backup)
	}
	way.Snapshot = c.op.Spec.EtcdRestore.Snapshot
	if c.ours() {
		way.Snapshot, way.Nodes = c.marker.Snapshot.Name, c.marker.Endpoints()
	}
	return "To finish it without Kubernetes: " + way.Command()
}

// awaitStore waits for the store: whether a restore is on its way cannot be told
// without it.
func (c *cycle) awaitStore(ctx context.Context) error {
	message := fmt.Sprintf("The object store has to answer first, since only its marker tells how far the restore is: %s. It is asked again.", oneLine(c.storeErr))
	if state, ok := c.Jobs.State(c.clusterKey()); ok && state.Running && state.Progress.Note != "" {
		message = fmt.Sprintf("%s: %s. The object store does not answer meanwhile: %s.", state.Progress.Step, state.Progress.Note, oneLine(c.storeErr))
	}
	c.onward(v1alpha1.ReasonRestoreWaits, message)
	return c.rest(ctx, blocked)
}

// astray pauses an operation whose marker somebody took away before its time.
func (c *cycle) astray(ctx context.Context) error {
	seen := "the marker of the restore is gone from the object store"
	switch {
	case c.markerErr != nil:
		seen = oneLine(c.markerErr)
	case c.marker != nil:
		seen = "the object store has the marker of another restore, " + OperationName(c.marker)
	case c.storeErr != nil:
		seen = oneLine(c.storeErr)
	}
	return c.pause(ctx, fmt.Sprintf("The restore cannot go on: %s. %s", seen, c.wayOut()))
}

// standBehind waits for the restore that is on its way: what it brought back is held at
// its end.
func (c *cycle) standBehind(ctx context.Context) error {
	c.onward(v1alpha1.ReasonRestoreWaits, fmt.Sprintf("Restore %s is on its way. This operation is older, and is held when that one is over.", OperationName(c.marker)))
	return c.rest(ctx, blocked)
}
