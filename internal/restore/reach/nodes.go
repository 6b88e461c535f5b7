package reach

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/talos"
)

// Nodes are clients of nodes, one for each address. Safe for many at once.
type Nodes struct {
	bundle   *talos.Bundle
	timeouts talos.Timeouts

	mu sync.Mutex
	of map[string]*talos.Restorer
}

var _ restore.Nodes = (*Nodes)(nil)

// NewNodes reaches nodes of the bundle's cluster. Timeouts are the default where 0.
func NewNodes(b *talos.Bundle, t talos.Timeouts) *Nodes {
	return &Nodes{bundle: b, timeouts: t, of: map[string]*talos.Restorer{}}
}

// Node implements restore.Nodes. Nothing is asked yet.
func (n *Nodes) Node(address string) (restore.NodeClient, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of[address] == nil {
		r, err := talos.NewRestorer(n.bundle, talos.Options{Address: address, Timeouts: n.timeouts})
		if err != nil {
			return nil, fmt.Errorf("reach node %s: %w", address, err)
		}
		n.of[address] = r
	}
	return node{n.of[address]}, nil
}

// Close ends all connections.
func (n *Nodes) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var errs []error
	for _, r := range n.of {
		errs = append(errs, r.Close())
	}
	clear(n.of)
	return errors.Join(errs...)
}

// node says what package talos answers in the words of package guard.
type node struct{ *talos.Restorer }

// Members implements restore.NodeClient. Nobody was asked how they are.
func (n node) Members(ctx context.Context) ([]guard.Member, error) {
	listed, err := n.Restorer.Members(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]guard.Member, len(listed))
	for i, m := range listed {
		out[i] = guard.Member{ID: m.ID, Name: m.Hostname, PeerURLs: m.PeerURLs, Learner: m.Learner, Started: len(m.ClientURLs) > 0}
	}
	return out, nil
}

// Alarms implements restore.NodeClient.
func (n node) Alarms(ctx context.Context) ([]string, error) {
	raised, err := n.Restorer.Alarms(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(raised))
	for i, a := range raised {
		out[i] = fmt.Sprintf("%s of member %x", a.Name, a.MemberID)
	}
	return out, nil
}

// ForfeitLeadership implements restore.NodeClient.
func (n node) ForfeitLeadership(ctx context.Context) error {
	_, err := n.Restorer.ForfeitLeadership(ctx)
	return err
}
