package machine

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/quorate/quorate/internal/conditions"
)

// note is an event that is told once the status that it goes with is written.
type note struct{ kind, reason, text string }

func (c *cycle) note(kind, reason, text string) { c.notes = append(c.notes, note{kind, reason, text}) }

func (c *cycle) tell() {
	for _, n := range c.notes {
		c.log.Info(n.text, "reason", n.reason)
		c.Events.Eventf(c.machine, nil, n.kind, n.reason, "Reconcile", "%s", conditions.Cut(n.text, conditions.MaxNote))
	}
	c.notes = nil
}

func (c *cycle) normal(reason, text string) { c.note(corev1.EventTypeNormal, reason, text) }

// over writes what is to be said and ends the cycle; the next is due after a time.
func (c *cycle) over(ctx context.Context, again time.Duration) error {
	c.again = again
	c.echo()
	if err := c.persist(ctx); err != nil {
		return err
	}
	return errOver
}
