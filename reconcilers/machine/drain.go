package machine

import (
	"context"
	"fmt"
	"strings"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/drain"
)

// drain evicts the node's pods, a look at a time.
func (c *cycle) drain(ctx context.Context) error {
	if c.mine().drained {
		return nil
	}
	progress, err := c.Drainer.Step(ctx, c.node)
	if err != nil {
		return err
	}
	if !progress.Done() {
		c.onward(v1alpha1.ReasonDraining, drainText(c.node, progress))
		return c.over(ctx, busy)
	}
	if c.reason() == v1alpha1.ReasonDraining {
		c.normal(v1alpha1.EventNodeDrained, fmt.Sprintf("Node %s is drained.", c.node))
	}
	c.mine().drained = true
	return nil
}

// mostNamed is how many pods a message names.
const mostNamed = 5

func drainText(node string, p drain.Progress) string {
	text := fmt.Sprintf("Node %s is being drained, pods left: %d (%s).", node, len(p.Left), some(p.Left))
	if len(p.Blocked) > 0 {
		text += " Not evicted: " + some(p.Blocked) + "."
	}
	return text
}

func some(names []string) string {
	if len(names) <= mostNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
}
