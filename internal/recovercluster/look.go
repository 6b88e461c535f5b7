package recovercluster

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/restore"
)

// lookTimeout bounds a look at all nodes.
const lookTimeout = 20 * time.Second

// sight is what the endpoints say before anything is begun. What does not answer is no
// error here: it may be why there is a recovery.
type sight struct {
	nodes []restore.Node
	// mute says of an address why its machine API did not answer.
	mute map[string]string
	// silent says of an address why its etcd gave no answer.
	silent map[string]error
	// alive is the furthest answer of etcd; nil if it gave none.
	alive *restore.Probe
}

// look asks all endpoints at once for their names and their etcd.
func (r *Recovery) look(ctx context.Context) sight {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	out := sight{nodes: make([]restore.Node, len(r.Endpoints)), mute: map[string]string{}, silent: map[string]error{}}
	probes, errs, silent := make([]restore.Probe, len(r.Endpoints)), make([]error, len(r.Endpoints)), make([]error, len(r.Endpoints))
	var all sync.WaitGroup
	for i, address := range r.Endpoints {
		all.Go(func() { out.nodes[i], errs[i] = r.describe(ctx, address) })
		all.Go(func() { probes[i], silent[i] = r.Etcd.Probe(ctx, address) })
	}
	all.Wait()
	for i := range probes {
		if errs[i] != nil {
			out.mute[r.Endpoints[i]] = errs[i].Error()
		}
		if silent[i] != nil {
			out.silent[r.Endpoints[i]] = silent[i]
			continue
		}
		p := &probes[i]
		out.nodes[i].PeerURLs = peersOf(p)
		if out.alive == nil || p.Revision > out.alive.Revision {
			out.alive = p
		}
	}
	if out.alive == nil {
		out.alive = r.heard(ctx, out)
	}
	return out
}

// heard is an etcd that cannot be reached from here and lives all the same, by the machine
// API of one of its nodes: without a revision; nil if there is none.
func (r *Recovery) heard(ctx context.Context, seen sight) *restore.Probe {
	for _, n := range seen.nodes {
		if seen.mute[n.Address] != "" {
			continue
		}
		if is := r.service(ctx, n.Address); is.Healthy && len(is.Members) > 0 {
			return &restore.Probe{MemberID: is.MemberID, Members: is.Members}
		}
	}
	return nil
}

func (r *Recovery) describe(ctx context.Context, address string) (restore.Node, error) {
	n := restore.Node{Machine: address, Address: address, Role: v1alpha1.MachineControlPlane}
	client, err := r.Nodes.Node(address)
	if err != nil {
		return n, err
	}
	n.NodeName, err = client.NodeName(ctx)
	n.Machine = cmp.Or(n.NodeName, address)
	return n, err
}

func peersOf(p *restore.Probe) []string {
	for _, m := range p.Members {
		if m.ID == p.MemberID {
			return m.PeerURLs
		}
	}
	return nil
}

// warnings name those of the nodes to wipe that do not answer.
func (s sight) warnings(nodes []restore.Node) (out []string) {
	for _, n := range nodes {
		if why := s.mute[n.Address]; why != "" {
			out = append(out, fmt.Sprintf("%s does not answer, and all have to: %s. One that is off for good, and stays off, is left out with --without %s.", n.Address, why, n.Address))
		}
	}
	return out
}

// nodesOf are members as nodes, at the hosts of their peer URLs.
func nodesOf(members []guard.Member) (out []restore.Node) {
	for _, m := range members {
		n := restore.Node{NodeName: m.Name, PeerURLs: m.PeerURLs, Role: v1alpha1.MachineControlPlane}
		for _, peer := range m.PeerURLs {
			if at, err := url.Parse(peer); err == nil {
				n.Address = at.Hostname()
			}
		}
		n.Machine = cmp.Or(m.Name, n.Address)
		out = append(out, n)
	}
	return out
}
