package machine

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

// finalizer keeps an approved machine until it has left its cluster. One that nobody
// let in has nothing to leave.
func (c *cycle) finalizer(ctx context.Context) error {
	if !c.machine.Spec.Approved || c.held() {
		return nil
	}
	changed := c.read.DeepCopy()
	controllerutil.AddFinalizer(changed, v1alpha1.FinalizerMachine)
	if err := c.Client.Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write the finalizer: %w", err)
	}
	c.written(changed)
	return nil
}

// visit asks the machine who it is, and records what it says. A machine that does not
// answer keeps what was recorded.
func (c *cycle) visit(ctx context.Context) error {
	reason, message := c.ask(ctx)
	if reason == "" {
		c.set(v1alpha1.ConditionReady, true, v1alpha1.ReasonAsAsked, c.wellMessage())
		c.again = usual
		return nil
	}
	c.set(v1alpha1.ConditionReady, false, reason, message)
	c.again = blocked
	return nil
}

func (c *cycle) wellMessage() string {
	if c.controlPlane() {
		return "The machine API answers, the Node is Ready, and the etcd member is a healthy voter."
	}
	return "The machine API answers, and the Node is Ready."
}

// ask is the first thing that is not as it should be; none if all is.
func (c *cycle) ask(ctx context.Context) (reason, message string) {
	var err error
	switch {
	case !c.machine.Spec.Approved:
		return v1alpha1.ReasonNotApproved, "Nobody has let the machine in yet: set spec.approved to true."
	case c.cluster == nil:
		return v1alpha1.ReasonClusterNotFound, fmt.Sprintf("There is no TalosCluster %s in this namespace. Create it, or delete this TalosMachine.", c.machine.Spec.ClusterRef.Name)
	}
	if c.bundle, err = c.Plane.Bundle(ctx, c.cluster); err != nil {
		return v1alpha1.ReasonBundleUnusable, conditions.Sentence(err)
	}
	if reason, message = c.identify(ctx); reason != "" {
		return reason, message
	}
	return c.nodeReady(ctx)
}

// identify records the machine's address, Node and etcd member. One that does not
// answer where it was last is looked for at its endpoint.
func (c *cycle) identify(ctx context.Context) (reason, message string) {
	reason, message = c.identifyAt(ctx, c.machine)
	moved := c.machine.DeepCopy()
	moved.Status.Address = ""
	if reason == v1alpha1.ReasonMachineUnreachable && controlplane.Address(moved) != controlplane.Address(c.machine) {
		return c.identifyAt(ctx, moved)
	}
	return reason, message
}

func (c *cycle) identifyAt(ctx context.Context, at *v1alpha1.TalosMachine) (reason, message string) {
	node, err := c.Dial(c.bundle, at, talos.Reader)
	if err != nil {
		return v1alpha1.ReasonMachineUnreachable, conditions.Sentence(err)
	}
	defer func() { _ = node.Close() }() // nothing is written through it
	if err := node.VerifyCluster(ctx); err != nil {
		return visitReason(err), conditions.Sentence(err)
	}
	name, err := node.NodeName(ctx)
	if err != nil {
		return visitReason(err), conditions.Sentence(err)
	}
	c.machine.Status.Address, c.machine.Status.NodeName = controlplane.Address(at), name
	c.recordReboot(ctx, at)
	if !c.controlPlane() {
		return "", ""
	}
	return c.recordMember(ctx, node)
}

func visitReason(err error) string {
	if errors.Is(err, talos.ErrOtherCluster) {
		return v1alpha1.ReasonOtherCluster
	}
	return v1alpha1.ReasonMachineUnreachable
}

// recordMember takes down the member while it is healthy: by that it is known later,
// when the machine may not answer any more.
func (c *cycle) recordMember(ctx context.Context, node Node) (reason, message string) {
	id, err := node.MemberID(ctx)
	if errors.Is(err, talos.ErrNotFound) {
		return v1alpha1.ReasonMemberUnhealthy, "Its etcd is not healthy, or has not joined yet: Talos shows no member of it."
	}
	if err != nil {
		return v1alpha1.ReasonMemberUnhealthy, conditions.Sentence(err)
	}
	members, err := node.Members(ctx)
	if err != nil {
		return v1alpha1.ReasonMemberUnhealthy, conditions.Sentence(err)
	}
	for _, m := range members {
		if m.ID != id {
			continue
		}
		c.machine.Status.EtcdMember = recordOf(m)
		if m.Learner {
			return v1alpha1.ReasonMemberUnhealthy, "Its etcd member is a learner still: it receives the log and has no vote yet."
		}
		return "", ""
	}
	return v1alpha1.ReasonMemberUnhealthy, fmt.Sprintf("Its etcd says that it is member %x, and the member list has no such member.", id)
}

// maxPeerURLs is what the API allows.
const maxPeerURLs = 5

func recordOf(m talos.Member) *v1alpha1.MachineEtcdMember {
	out := &v1alpha1.MachineEtcdMember{ID: v1alpha1.HexID(strconv.FormatUint(m.ID, 16))}
	for _, u := range m.PeerURLs[:min(len(m.PeerURLs), maxPeerURLs)] {
		out.PeerURLs = append(out.PeerURLs, v1alpha1.URL(u))
	}
	return out
}

// nodeReady looks at the machine's Node.
func (c *cycle) nodeReady(ctx context.Context) (reason, message string) {
	name, node := c.machine.Status.NodeName, &corev1.Node{}
	if err := c.Live.Get(ctx, types.NamespacedName{Name: name}, node); apierrors.IsNotFound(err) {
		return v1alpha1.ReasonNodeNotReady, fmt.Sprintf("There is no Node %s, as the machine calls itself.", name)
	} else if err != nil {
		return v1alpha1.ReasonNodeNotReady, conditions.Sentence(err)
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return "", ""
		}
	}
	return v1alpha1.ReasonNodeNotReady, fmt.Sprintf("Node %s is not Ready.", name)
}

// status writes what was found, and that a request to look was followed.
func (c *cycle) status(ctx context.Context) error {
	c.machine.Status.ObservedGeneration = c.machine.Generation
	c.echo()
	return c.persist(ctx)
}

// echo says which request to look was followed. It comes with the last write of a
// cycle, so that one that was cut short has followed none.
func (c *cycle) echo() {
	c.machine.Status.ObservedReconcileRequest = conditions.Cut(c.machine.Annotations[v1alpha1.AnnotationReconcileRequested], maxRequest)
}

// maxRequest is what status.observedReconcileRequest may have.
const maxRequest = 253
