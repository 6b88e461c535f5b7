package machine

import (
	"context"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// stagedMessage is what RebootRequired says. Talos tells apart what it stored and what it
// runs with, and not why they differ.
const stagedMessage = "It has stored another machine configuration than the one it runs with: one that is staged until it reboots, or one that is only being tried. " +
	"Reboot it, or apply the configuration that is wanted; nothing reboots it by itself."

// recordReboot records whether the machine wants a reboot. One that does not say keeps
// what was recorded.
func (c *cycle) recordReboot(ctx context.Context, at *v1alpha1.TalosMachine) {
	node, err := c.Dial(c.bundle, at, talos.Admin) // there are secrets in configurations
	if err == nil {
		defer func() { _ = node.Close() }() // nothing is written through it
		var staged bool
		if staged, err = node.ConfigStaged(ctx); err == nil {
			c.rebootRequired(staged)
			return
		}
	}
	c.log.V(1).Info("it is not known whether the machine wants a reboot", "why", err.Error())
}

func (c *cycle) rebootRequired(staged bool) {
	if !staged {
		c.drop(v1alpha1.ConditionRebootRequired)
		return
	}
	c.set(v1alpha1.ConditionRebootRequired, true, v1alpha1.ReasonConfigurationStaged, stagedMessage)
}
