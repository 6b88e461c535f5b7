package machine

import (
	"context"
	"fmt"
	"time"

	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/talos"
)

// probeTimeout bounds the question whether a machine can leave by itself.
const probeTimeout = 6 * time.Second

// probe is what a machine that goes says of itself.
type probe struct {
	node    Node
	address string
	alive   bool  // it answers, whatever it says
	fault   error // why it cannot leave by itself; nil if it can
	// stranger is set if what answers is not the machine, or does not trust us.
	stranger bool
}

// probe asks the machine. While it is leaving, a sign of life is all that is wanted.
func (c *cycle) probe(ctx context.Context) *probe {
	p := &probe{address: controlplane.Address(c.machine)}
	if p.node, p.fault = c.Dial(c.bundle, c.machine, talos.Admin); p.fault != nil {
		return p
	}
	limit := probeTimeout
	if c.mine().leave != nil {
		limit = signOfLife
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if _, p.fault = p.node.Version(ctx); p.fault == nil {
		p.alive = true
		p.fault = c.canLeave(ctx, p.node)
	}
	p.stranger = refusedAtTheDoor(p.fault)
	return p
}

// canLeave fails unless the node is of this cluster and its etcd is healthy: an ill one
// would wait for minutes before it fails.
func (c *cycle) canLeave(ctx context.Context, node Node) error {
	if err := node.VerifyCluster(ctx); err != nil {
		return err
	}
	id, err := node.MemberID(ctx)
	if err != nil {
		return fmt.Errorf("its own etcd is not healthy: %w", err)
	}
	if target, _, listed := c.target(); listed && target.ID != id {
		return fmt.Errorf("its own etcd member is %x, and %x is to go", id, target.ID)
	}
	return nil
}

// take hands the client over; close leaves it alone then.
func (p *probe) take() Node {
	node := p.node
	p.node = nil
	return node
}

func (p *probe) close() {
	if p.node != nil {
		_ = p.node.Close() // nothing is written by closing it
	}
}
