package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/quorate/quorate/internal/conditions"
)

// note is an event that is told once what it goes with is written. A cycle that could
// not write is repeated, and so is silent.
type note struct {
	kind, reason, text string
	// told is set then; nil if the status itself remembers.
	told *bool
}

func (c *cycle) normal(reason, text string) {
	c.notes = append(c.notes, note{corev1.EventTypeNormal, reason, text, nil})
}

func (c *cycle) warn(reason, text string, told *bool) {
	c.notes = append(c.notes, note{corev1.EventTypeWarning, reason, text, told})
}

// noted tells whether an event that remembers there waits to be told.
func (c *cycle) noted(told *bool) bool {
	return slices.ContainsFunc(c.notes, func(n note) bool { return n.told == told })
}

func (c *cycle) tell() {
	for _, n := range c.notes {
		c.log.Info(n.text, "reason", n.reason)
		c.Events.Eventf(c.cluster, nil, n.kind, n.reason, "Reconcile", "%s", conditions.Cut(n.text, conditions.MaxNote))
		if n.told != nil {
			*n.told = true
		}
	}
	c.notes = nil
}
