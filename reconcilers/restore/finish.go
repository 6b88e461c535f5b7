package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
)

// finish removes the copy and the marker, and says that the restore is over. If it is
// cut short, it is repeated: without a marker the status alone is left.
func (c *cycle) finish(ctx context.Context, hold Hold) error {
	c.restoring().Message = c.farewell(ctx)
	// What is said at the end is written before the marker that it is said from is gone.
	c.onward(string(v1alpha1.StepReconciling), c.restoring().Message)
	if err := c.persist(ctx); err != nil {
		return err
	}
	if err := c.removeMarker(ctx); err != nil {
		return err
	}
	if err := hold.Release(ctx); err != nil {
		c.log.Info("the cluster's lock runs out by itself", "why", err.Error())
	}
	return c.complete(ctx)
}

// complete says that the restore is over, and leaves no plaintext behind.
func (c *cycle) complete(ctx context.Context) error {
	if err := c.Jobs.End(ctx, c.clusterKey()); err != nil {
		return err
	}
	said := c.restoring().Message
	c.op.Status.Phase, c.op.Status.FailureReason = v1alpha1.PhaseCompleted, ""
	c.set(v1alpha1.ConditionReady, true, v1alpha1.ReasonRestored, said)
	c.unset(v1alpha1.ConditionReconciling, v1alpha1.ConditionStalled)
	c.normal(v1alpha1.ReasonRestored, said)
	if err := c.persist(ctx); err != nil {
		return err
	}
	return c.dropFinalizer(ctx)
}

// farewell is what is left to know of a restore.
func (c *cycle) farewell(ctx context.Context) string {
	m := c.marker
	said := []string{fmt.Sprintf("etcd is as it was at %s.", clockTime(m.Snapshot.Time))}
	if m.Pinned.Undo != "" {
		said = append(said, fmt.Sprintf("What it was before the restore is in snapshot %s.", m.Pinned.Undo))
	}
	if m.ExtraWipes > 0 {
		said = append(said, fmt.Sprintf("%d wipes were needed beyond the first of each node.", m.ExtraWipes))
	}
	if strangers := c.strangers(ctx); len(strangers) > 0 {
		said = append(said, fmt.Sprintf("Control planes that were added since the snapshot are strangers until they are declared and approved again: %s.", names(strangers, 5)))
	}
	said = append(said, leftOut(m)...)
	for _, more := range []string{m.Alarms, m.AgentWarning} {
		if more != "" {
			said = append(said, more)
		}
	}
	return strings.Join(said, " ")
}

// strangers are the control planes that were wiped and that the restored cluster does
// not know, or has not approved.
func (c *cycle) strangers(ctx context.Context) (out []string) {
	machines, err := c.machines(ctx)
	if err != nil {
		return nil // it is said, and decides nothing
	}
	for _, n := range c.marker.Nodes {
		known := slices.ContainsFunc(machines, func(m v1alpha1.TalosMachine) bool {
			return m.Spec.Approved && (m.Name == n.Machine || n.NodeName != "" && (m.Status.NodeName == n.NodeName || m.Spec.Hostname == n.NodeName))
		})
		if n.ControlPlane() && !known {
			out = append(out, n.Machine)
		}
	}
	return out
}
