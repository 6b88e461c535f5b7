package machine

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

// resolve finds the name of the machine's Node: spec.hostname, else what Talos
// reports, else the Node at the machine's address. A name without a Node is a name all
// the same: the Node is gone.
func (c *cycle) resolve(ctx context.Context) error {
	hostname, reported := c.machine.Spec.Hostname, c.machine.Status.NodeName
	byHostname, err := c.exists(ctx, hostname)
	if err != nil {
		return err
	}
	byReport, err := c.exists(ctx, reported)
	if err != nil {
		return err
	}
	switch {
	case byHostname && byReport && hostname != reported:
		return c.unresolved(ctx, fmt.Sprintf("spec.hostname is %s, and the machine has called itself %s; both are Nodes. Correct spec.hostname.", hostname, reported))
	case byHostname:
		c.node = hostname
	case byReport:
		c.node = reported
	default:
		return c.search(ctx)
	}
	return nil
}

func (c *cycle) exists(ctx context.Context, name string) (bool, error) {
	if name == "" {
		return false, nil
	}
	err := c.Live.Get(ctx, types.NamespacedName{Name: name}, &corev1.Node{})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("get Node %s: %w", name, err)
	}
	return true, nil
}

// search asks the machine itself, then looks for its address among the Nodes'.
func (c *cycle) search(ctx context.Context) error {
	report := c.report(ctx)
	there, err := c.exists(ctx, report)
	if err != nil {
		return err
	}
	if there {
		c.node = report
		return nil
	}
	found, err := c.atAddress(ctx)
	if err != nil {
		return err
	}
	for _, name := range []string{found, c.machine.Spec.Hostname, c.machine.Status.NodeName, report} {
		if name != "" {
			c.node = name
			return nil
		}
	}
	return c.unresolved(ctx, fmt.Sprintf("spec.hostname is empty, the machine does not say what its Node is called, and no Node has the address %s. Set spec.hostname to the name of its Node.", controlplane.Address(c.machine)))
}

// report is what the machine calls its Node, if it answers.
func (c *cycle) report(ctx context.Context) string {
	if c.bundle == nil {
		return ""
	}
	node, err := c.Dial(c.bundle, c.machine, talos.Reader)
	if err != nil {
		return ""
	}
	defer func() { _ = node.Close() }() // nothing is written through it
	if err := node.VerifyCluster(ctx); err != nil {
		return ""
	}
	name, err := node.NodeName(ctx)
	if err != nil {
		c.log.V(1).Info("the machine does not say its name", "why", err.Error())
		return ""
	}
	return name
}

// atAddress is the one Node at the machine's address; "" if there is none, or several.
func (c *cycle) atAddress(ctx context.Context) (string, error) {
	var nodes corev1.NodeList
	if err := c.Live.List(ctx, &nodes); err != nil {
		return "", fmt.Errorf("list Nodes: %w", err)
	}
	address, names := controlplane.Address(c.machine), []string{}
	for _, n := range nodes.Items {
		if slices.ContainsFunc(n.Status.Addresses, func(a corev1.NodeAddress) bool { return a.Address == address }) {
			names = append(names, n.Name)
		}
	}
	if len(names) != 1 {
		return "", nil
	}
	return names[0], nil
}

func (c *cycle) unresolved(ctx context.Context, why string) error {
	return c.stuck(ctx, v1alpha1.ReasonNodeNameUnresolved, "The machine's Node cannot be told: "+why)
}
