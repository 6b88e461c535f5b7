package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/restore"
)

// prepare gets everything ready under the cluster's lock, writes the marker, and has the
// job start. A failure here has changed nothing.
func (c *cycle) prepare(ctx context.Context) error {
	if c.cluster == nil || c.backup == nil || c.storeErr != nil {
		return c.cannot(ctx, c.missing())
	}
	if c.markerErr != nil {
		return c.cannot(ctx, sentence(c.markerErr))
	}
	if state, ok := c.Jobs.State(c.clusterKey()); ok && state.Running {
		c.op.Status.Phase = v1alpha1.PhasePending
		c.onward(v1alpha1.ReasonRestoreWaits, "Nothing is changed yet: another restore of the cluster is at work in this process.")
		return c.rest(ctx, busy)
	}
	hold, err := c.Lock(ctx, c.clusterKey(), c.lockFor())
	if errors.Is(err, lease.ErrHeld) {
		c.op.Status.Phase = v1alpha1.PhasePending
		c.onward(v1alpha1.ReasonRestoreWaits, fmt.Sprintf("Nothing is changed yet: %s.", oneLine(err)))
		return c.rest(ctx, busy)
	}
	if err != nil {
		return err
	}
	defer c.giveBack(ctx, hold)
	return c.prepareUnder(ctx, hold)
}

// missing says what the restore cannot do without.
func (c *cycle) missing() string {
	switch {
	case c.cluster == nil:
		return fmt.Sprintf("There is no TalosCluster %s.", c.clusterKey())
	case c.backup == nil:
		return fmt.Sprintf("There is no TalosEtcdBackup %s/%s.", c.op.Namespace, c.op.Spec.EtcdRestore.BackupRef.Name)
	}
	return fmt.Sprintf("The object store of backup %s cannot be used: %s.", c.backup.Name, oneLine(c.storeErr))
}

// cannot pauses before anything was changed. Why comes last, since it may end with the
// command that does it all the same.
func (c *cycle) cannot(ctx context.Context, why string) error {
	return c.pause(ctx, "Nothing was changed. When what is named here is mended, delete this operation and order the restore again. "+why)
}

func (c *cycle) prepareUnder(ctx context.Context, hold Hold) error {
	if err := c.finalizer(ctx); err != nil {
		return err
	}
	c.op.Status.Phase = v1alpha1.PhaseRunning
	c.onward(v1alpha1.ReasonPreparing, "Nothing is changed yet: the restore is prepared.")
	if err := c.persist(ctx); err != nil {
		return err
	}
	ctx, stop := keep(ctx, hold)
	defer stop()
	order := Order{Operation: c.op, Cluster: c.cluster, Backup: c.backup, Store: c.store, Marker: c.marker}
	m, err := c.Preparing.Prepare(ctx, order, hold.Check, c.saying(ctx))
	if err != nil {
		return c.unprepared(ctx, err)
	}
	c.Jobs.Begun(c.clusterKey())
	c.marker = m
	c.mirror()
	c.warn(v1alpha1.ReasonRestoreStarted, fmt.Sprintf("etcd of cluster %s is restored from snapshot %s of %s, as ordered by %s: all that was written since is lost, and the Kubernetes API is away meanwhile. %s",
		c.op.Spec.ClusterRef.Name, m.Snapshot.Name, clockTime(m.Snapshot.Time), requester(m.Operation.Requester), c.wayOut()))
	return c.followAfter(ctx)
}

// followAfter begins the job. The marker says all that this needs, so that it is begun
// in the next cycle if this one ends early.
func (c *cycle) followAfter(ctx context.Context) error {
	c.onward(string(c.marker.Step), fmt.Sprintf("%s: the job begins.", c.marker.Step))
	if err := c.persist(ctx); err != nil {
		return err
	}
	c.again = soonest
	return nil
}

func requester(name string) string {
	if name == "" {
		return "somebody who is not recorded; see the audit log of the API server"
	}
	return name
}

// unprepared pauses, unless this process is on its way out or has lost the lock, or it is
// open whether the restore has begun: then the next look tells.
func (c *cycle) unprepared(ctx context.Context, err error) error {
	if ctx.Err() != nil || errors.Is(err, restore.ErrUnsure) || errors.Is(err, lease.ErrLost) {
		return fmt.Errorf("prepare the restore: %w", err)
	}
	if errors.Is(err, errBlocked) {
		return c.cannot(ctx, err.Error()) // whole sentences, or a command at the end
	}
	return c.cannot(ctx, sentence(err))
}

func sentence(err error) string {
	text := []rune(oneLine(err))
	if len(text) > 0 && text[0] >= 'a' && text[0] <= 'z' {
		text[0] -= 'a' - 'A'
	}
	return string(text) + "."
}

// saying writes what is being prepared into the status. That it cannot be written stops
// nothing.
func (c *cycle) saying(ctx context.Context) func(string) {
	return func(what string) {
		c.onward(v1alpha1.ReasonPreparing, conditions.Cut("Nothing is changed yet: "+what+".", conditions.MaxMessage))
		if err := c.persist(ctx); err != nil {
			c.log.Info("the status could not be written", "why", err.Error())
		}
	}
}

const (
	// keepEvery is how often the lock is looked at while something takes its time.
	keepEvery = 5 * time.Second
	// releaseTimeout bounds giving the lock back: it runs out by itself too.
	releaseTimeout = 5 * time.Second
)

// keep renews the lock, and ends the context when it is lost.
func keep(ctx context.Context, hold Hold) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(keepEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			if err := hold.Check(ctx); errors.Is(err, lease.ErrLost) {
				cancel(err)
			}
		}
	}()
	return ctx, func() { cancel(context.Canceled); <-done }
}

// giveBack releases the lock: from here on the marker keeps everybody else out.
func (c *cycle) giveBack(ctx context.Context, hold Hold) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if err := hold.Release(ctx); err != nil {
		c.log.Info("the cluster's lock runs out by itself", "why", err.Error())
	}
}
