package restore

import (
	"context"
	"fmt"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/restore"
)

// workers has the job go on where the restore was ordered by command line: that asks no
// Kubernetes, so that its marker knows no workers, whose kubelets hold what was before the
// rewind. They are those that the restored cluster has; the job restarts their kubelets,
// within its limit, and says which it could not.
func (c *cycle) workers(ctx context.Context) error {
	m := c.marker
	if m.Operation.Name != "" || m.Step != v1alpha1.StepRejoining || slices.ContainsFunc(m.Nodes, isWorker) {
		return nil
	}
	machines, err := c.machines(ctx)
	if err != nil {
		return err
	}
	found := workersOf(machines)
	if len(found) == 0 {
		return nil
	}
	now := c.Clock.Now()
	m.Nodes = append(m.Nodes, found...)
	// The job of the command is done, so that its process has nothing to hold any more.
	m.JobDone, m.AgentsSince, m.AgentWarning, m.LimitsFrom, m.Owner.Expires = false, nil, "", now, now
	if err := c.saveMarker(ctx); err != nil {
		return err
	}
	c.onward(string(m.Step), fmt.Sprintf("%s: the kubelets of %d workers are to be restarted, of which the command that restored etcd knew nothing.", m.Step, len(found)))
	return c.rest(ctx, soonest)
}

func isWorker(n restore.Node) bool { return !n.ControlPlane() }

// workersOf are the approved workers that can be reached.
func workersOf(machines []v1alpha1.TalosMachine) (out []restore.Node) {
	for i := range machines {
		m := &machines[i]
		if m.Spec.Approved && m.DeletionTimestamp.IsZero() && m.Spec.Role == v1alpha1.MachineWorker && controlplane.Address(m) != "" {
			out = append(out, restore.Node{Machine: m.Name, NodeName: m.Status.NodeName, Address: controlplane.APIAddress(m), Role: m.Spec.Role})
		}
	}
	return out
}
