package restore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/restore"
)

// tail is what needs Kubernetes: etcd is complete, and as it was at the snapshot.
func (c *cycle) tail(ctx context.Context) error {
	c.mirror()
	if err := c.finalizer(ctx); err != nil {
		return err
	}
	hold, err := c.Lock(ctx, c.clusterKey(), c.lockFor())
	if errors.Is(err, lease.ErrHeld) {
		c.onward(v1alpha1.ReasonRestoreWaits, fmt.Sprintf("%s: %s.", c.marker.Step, oneLine(err)))
		return c.rest(ctx, busy)
	}
	if err != nil {
		return err
	}
	for _, step := range []func(*cycle, context.Context) error{(*cycle).workers, (*cycle).bound, (*cycle).renewAgents, (*cycle).adopt, (*cycle).request, (*cycle).awaitMachines, (*cycle).holdReturned} {
		if err := step(c, ctx); err != nil {
			return err
		}
	}
	return c.finish(ctx, hold)
}

func (c *cycle) lockFor() string { return "restore etcd by talosoperation " + c.op.Name }

// bound pauses a restore that has taken too long.
func (c *cycle) bound(ctx context.Context) error {
	from := c.marker.LimitsFrom
	if from.IsZero() {
		from = c.marker.StartedAt
	}
	if c.Clock.Now().Sub(from) <= c.Limits.all() {
		return nil
	}
	c.marker.Failure = fmt.Sprintf("The restore was not over within %s. Last: %s etcd is recovered; heal what is named, and have the restore go on: quorate operation release talosoperation/%s -n %s.",
		c.Limits.all(), c.restoring().Message, c.op.Name, c.op.Namespace)
	if err := c.saveMarker(ctx); err != nil {
		return err
	}
	return c.pause(ctx, c.marker.Failure+" "+c.wayOut())
}

// renewAgents waits until the nodes that were not wiped have let go of what they held of
// the old state, for a limited time.
func (c *cycle) renewAgents(ctx context.Context) error {
	if c.marker.Step == v1alpha1.StepReconciling || c.marker.AgentsSince == nil {
		return nil
	}
	list, err := hosts(ctx, c.Live, c.unwiped())
	if err != nil {
		return err
	}
	todo := renew(list, *c.marker.AgentsSince)
	if len(todo.waits) == 0 {
		return nil
	}
	if since := c.agentsSince(); c.Clock.Now().Sub(since) >= c.Limits.agents() {
		c.marker.AgentWarning = fmt.Sprintf("Not all of the nodes that were not wiped have let go of the old state within %s: it was still waited for %s. Restart what is named there.",
			c.Limits.agents(), names(todo.waits, 5))
		return nil // saved with the next step
	}
	for i := range todo.delete {
		p := &todo.delete[i]
		err := c.Client.Delete(ctx, p, client.Preconditions{UID: &p.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("replace pod %s/%s: %w", p.Namespace, p.Name, err)
		}
		c.log.Info("deleted a pod that is older than the rewind", "pod", p.Namespace+"/"+p.Name, "node", p.Spec.NodeName)
	}
	c.onward(reasonAgents, fmt.Sprintf("%s: waiting for %s.", c.marker.Step, names(todo.waits, 5)))
	return c.rest(ctx, busy)
}

// reasonAgents is the reason while the agents of nodes are waited for.
const reasonAgents = "RenewingAgents"

// agentsSince is since when this operation waits for the agents.
func (c *cycle) agentsSince() time.Time {
	if r := meta.FindStatusCondition(c.op.Status.Conditions, v1alpha1.ConditionReconciling); r != nil && r.Reason == reasonAgents {
		return r.LastTransitionTime.Time
	}
	return c.Clock.Now()
}

// unwiped are the Nodes of the machines that no wipe took the old state from.
func (c *cycle) unwiped() (out []string) {
	for _, n := range c.marker.Nodes {
		if !n.ControlPlane() && n.NodeName != "" {
			out = append(out, n.NodeName)
		}
	}
	return out
}

// adopt records the ID of the recovered etcd: it is another cluster than the one of
// before, and the rewound status names that one. Only an etcd that proves to be the
// recovered one is adopted.
func (c *cycle) adopt(ctx context.Context) error {
	if c.cluster == nil || c.marker.Step != v1alpha1.StepRejoining {
		return nil
	}
	found, err := c.Recovered(ctx, c.cluster, c.marker)
	if err = recovered(found, err, c.marker); err != nil {
		c.onward(v1alpha1.ReasonRestoreWaits, fmt.Sprintf("%s: the etcd of %s has to say which cluster it is: %s.", c.marker.Step, c.marker.Target, oneLine(err)))
		return c.rest(ctx, busy)
	}
	id := v1alpha1.HexID(strconv.FormatUint(found.ClusterID, 16))
	if c.cluster.Status.ClusterID == id {
		return nil
	}
	changed := c.cluster.DeepCopy()
	changed.Status.ClusterID = id
	if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.cluster, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("record the ID of the recovered etcd in the cluster's status: %w", err)
	}
	c.cluster = changed
	return nil
}

// request asks every approved machine to reconcile against the restored state.
func (c *cycle) request(ctx context.Context) error {
	if c.marker.Step != v1alpha1.StepReconciling {
		c.marker.Step = v1alpha1.StepReconciling
		c.marker.ReconcileRequest = fmt.Sprintf("restore-%d", c.marker.Epoch)
		if err := c.saveMarker(ctx); err != nil {
			return err
		}
		c.mirror()
	}
	machines, err := c.machines(ctx)
	if err != nil {
		return err
	}
	for i := range machines {
		if err := c.ask(ctx, &machines[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *cycle) ask(ctx context.Context, m *v1alpha1.TalosMachine) error {
	if !m.Spec.Approved || m.Annotations[v1alpha1.AnnotationReconcileRequested] == c.marker.ReconcileRequest {
		return nil
	}
	changed := m.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[v1alpha1.AnnotationReconcileRequested] = c.marker.ReconcileRequest
	if err := c.Client.Patch(ctx, changed, client.MergeFrom(m)); err != nil {
		return fmt.Errorf("ask TalosMachine %s to reconcile: %w", m.Name, err)
	}
	return nil
}

func (c *cycle) machines(ctx context.Context) (out []v1alpha1.TalosMachine, _ error) {
	var list v1alpha1.TalosMachineList
	if err := c.Live.List(ctx, &list, client.InNamespace(c.op.Namespace)); err != nil {
		return nil, fmt.Errorf("list the TalosMachines: %w", err)
	}
	for _, m := range list.Items {
		if m.Spec.ClusterRef.Name == c.clusterKey().Name {
			out = append(out, m)
		}
	}
	return out, nil
}

// awaitMachines waits until each has done so and is Ready.
func (c *cycle) awaitMachines(ctx context.Context) error {
	machines, err := c.machines(ctx)
	if err != nil {
		return err
	}
	waits, reboot := echoes(staying(machines, c.marker.LeftOut), c.marker.ReconcileRequest, wiped(c.marker))
	if len(waits) == 0 {
		return nil
	}
	message := fmt.Sprintf("%s: waiting for %s.", c.marker.Step, names(waits, 5))
	if len(reboot) > 0 {
		message += fmt.Sprintf(" A person has to reboot %s, whose condition RebootRequired says why; the restore reboots nothing for that.", names(reboot, 5))
	}
	c.onward(string(c.marker.Step), message+stayOff(c.marker))
	return c.rest(ctx, busy)
}

// wiped are the nodes that the restore was about, by the names of machine and Node: a
// restore that was ordered by command line knows no machine's.
func wiped(m *restore.Marker) map[string]bool {
	out := map[string]bool{}
	for _, n := range m.Nodes {
		out[n.Machine], out[n.NodeName] = true, true
	}
	delete(out, "")
	return out
}
