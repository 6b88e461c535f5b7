package machines

import (
	"context"

	"github.com/quorate/quorate/internal/talos"
)

// doorToNode leads to one machine. Calls of one that has no name are not counted.
type doorToNode struct {
	node *talos.Node
	m    *mortal
	name string
}

func (d *doorToNode) ask(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, stop := d.m.while(ctx)
	defer stop()
	if d.name == "" {
		what = ""
	} else {
		what += " of " + d.name
	}
	return d.m.call(what, func() error { return do(ctx) })
}

// asks is ask with an answer.
func asks[T any](ctx context.Context, d *doorToNode, what string, do func(context.Context) (T, error)) (out T, err error) {
	err = d.ask(ctx, what, func(ctx context.Context) (err error) {
		out, err = do(ctx)
		return err
	})
	return out, err
}

func (d *doorToNode) Version(ctx context.Context) (string, error) {
	return asks(ctx, d, "Version", d.node.Version)
}

func (d *doorToNode) VerifyCluster(ctx context.Context) error {
	return d.ask(ctx, "VerifyCluster", d.node.VerifyCluster)
}

func (d *doorToNode) NodeName(ctx context.Context) (string, error) {
	return asks(ctx, d, "NodeName", d.node.NodeName)
}

func (d *doorToNode) MemberID(ctx context.Context) (uint64, error) {
	return asks(ctx, d, "MemberID", d.node.MemberID)
}

func (d *doorToNode) ConfigStaged(ctx context.Context) (bool, error) {
	return asks(ctx, d, "ConfigStaged", d.node.ConfigStaged)
}

func (d *doorToNode) Members(ctx context.Context) ([]talos.Member, error) {
	return asks(ctx, d, "Members", d.node.Members)
}

func (d *doorToNode) ForfeitLeadership(ctx context.Context) (string, error) {
	return asks(ctx, d, "ForfeitLeadership", d.node.ForfeitLeadership)
}

func (d *doorToNode) Leave(ctx context.Context) error { return d.ask(ctx, "Leave", d.node.Leave) }

func (d *doorToNode) RemoveMember(ctx context.Context, id uint64) error {
	return d.ask(ctx, "RemoveMember", func(ctx context.Context) error { return d.node.RemoveMember(ctx, id) })
}

func (d *doorToNode) Close() error { return d.node.Close() }
