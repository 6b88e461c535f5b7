package talos

import (
	"context"
	"errors"
	"fmt"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// Node is a client of one node, with what the removal of a member needs. It is safe
// for use by many at once. It asks this node and never has it ask another one.
type Node struct{ *client }

// NewNode makes a client that connects when it is first used, by default as [Reader];
// an error is one of the options or of the bundle's authority.
func NewNode(b *Bundle, o Options) (*Node, error) {
	if o.Role == "" {
		o.Role = Reader
	}
	c, err := newClient(b, o, removalMethods)
	if err != nil {
		return nil, err
	}
	return &Node{c}, nil
}

// RemoveMember removes a member by its ID, through this node. One that is not there
// is removed. The machine of a removed member keeps its data. After an error it is
// open whether it happened: list the members.
func (n *Node) RemoveMember(ctx context.Context, id uint64) error {
	_, err := ask(ctx, n.client, n.timeouts.Remove, fmt.Sprintf("remove the etcd member %016x", id),
		func(ctx context.Context) (*machine.EtcdRemoveMemberByID, error) {
			answer, err := n.machine.EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: id})
			if err != nil {
				return nil, err
			}
			return only(answer.GetMessages())
		})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}
