package machine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// cycle is one reconcile of one machine: what was read, and what is to be said.
type cycle struct {
	*Reconciler
	log     logr.Logger
	machine *v1alpha1.TalosMachine
	read    *v1alpha1.TalosMachine // as it was read or last written
	notes   []note
	again   time.Duration

	// cluster is nil where there is none.
	cluster  *v1alpha1.TalosCluster
	machines []v1alpha1.TalosMachine
	bundle   *talos.Bundle
	view     *etcd.View
	viewErr  error
	// node is the name of the machine's Node; gone if there is none of that name.
	node string
}

func (c *cycle) controlPlane() bool { return c.machine.Spec.Role == v1alpha1.MachineControlPlane }

func (c *cycle) held() bool {
	return slices.Contains(c.machine.Finalizers, v1alpha1.FinalizerMachine)
}

func (c *cycle) clusterKey() types.NamespacedName {
	return types.NamespacedName{Namespace: c.machine.Namespace, Name: c.machine.Spec.ClusterRef.Name}
}

// findCluster reads the machine's TalosCluster, if there is one.
func (c *cycle) findCluster(ctx context.Context) error {
	cluster := &v1alpha1.TalosCluster{}
	err := c.Live.Get(ctx, c.clusterKey(), cluster)
	switch {
	case err == nil:
		c.cluster = cluster
	case !apierrors.IsNotFound(err):
		return fmt.Errorf("get TalosCluster %s: %w", c.clusterKey(), err)
	}
	return nil
}

// survey reads the control plane: its secrets, its machines, and its etcd. A worker's
// removal needs none of it, only a name that the secrets help to find.
func (c *cycle) survey(ctx context.Context) (err error) {
	c.bundle, err = c.Plane.Bundle(ctx, c.cluster)
	if !c.controlPlane() {
		return nil
	}
	if err != nil {
		return c.fail(ctx, fmt.Sprintf("The secrets bundle cannot be used, and without it nobody can be asked to remove the etcd member: %s.", conditions.OneLine(err)))
	}
	return c.look(ctx)
}

// look reads machines and etcd anew.
func (c *cycle) look(ctx context.Context) (err error) {
	if c.machines, err = c.Plane.Machines(ctx, c.machine.Namespace, c.cluster.Name); err != nil {
		return err
	}
	if c.view, c.viewErr = c.Plane.View(ctx, c.bundle, c.machines, c.cluster.Status.ClusterID); c.viewErr != nil {
		c.view = nil
	}
	return nil
}

// self is the machine in the words by which its member can be told.
func (c *cycle) self() guard.Machine { return describe(c.machine, c.node) }

// others are the other control planes that have a claim to a member.
func (c *cycle) others() (out []guard.Machine) {
	for i := range c.machines {
		if m := &c.machines[i]; m.UID != c.machine.UID && controlplane.Approved(m) {
			out = append(out, describe(m, ""))
		}
	}
	return out
}

func describe(m *v1alpha1.TalosMachine, node string) guard.Machine {
	out := controlplane.Describe(m)
	if node != "" {
		out.Hostnames = append(out.Hostnames, node)
	}
	return out
}

// target is the machine's member that goes next. ok is false if the list has none.
func (c *cycle) target() (target guard.Member, verdict guard.Removal, ok bool) {
	return guard.Next(c.view.Members, guard.MembersOf(c.view.Members, c.self(), c.others()))
}

// persist writes the status if it differs, on condition that nobody has written the
// object meanwhile, and then tells what happened.
func (c *cycle) persist(ctx context.Context) error {
	if !sameStatus(c.machine, c.read) {
		changed := c.read.DeepCopy()
		changed.Status = *c.machine.Status.DeepCopy()
		if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("write the status: %w", err)
		}
		c.written(changed)
	}
	c.tell()
	return nil
}

// written takes over what the API server made of a write.
func (c *cycle) written(changed *v1alpha1.TalosMachine) {
	c.machine, c.read = changed.DeepCopy(), changed
}
