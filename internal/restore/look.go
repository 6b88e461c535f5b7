package restore

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// look asks all control planes at once: first for boot and data, then the etcd of those
// that have data, and where that does not answer and may be the recovered one, the
// machine API in its place.
func (r *run) look(ctx context.Context) restoring.Observation {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	var nodes []Node
	for _, n := range r.marker.Nodes {
		if n.ControlPlane() {
			nodes = append(nodes, n)
		}
	}
	seen := make([]restoring.Seen, len(nodes))
	together(len(nodes), func(i int) { seen[i] = r.ask(ctx, nodes[i].Address) })
	together(len(nodes), func(i int) {
		if !seen[i].Data {
			return
		}
		r.probe(ctx, nodes[i].Address, &seen[i])
		if seen[i].Etcd == nil && r.marker.Step != v1alpha1.StepWiping {
			r.hear(ctx, nodes[i].Address, &seen[i])
		}
	})
	all := restoring.Observation{Nodes: map[string]restoring.Seen{}}
	for i, n := range nodes {
		all.Nodes[n.Machine] = seen[i]
	}
	r.old(ctx, nodes, &all)
	return all
}

func (r *run) ask(ctx context.Context, address string) (seen restoring.Seen) {
	client, err := r.Nodes.Node(address)
	if err == nil {
		seen.BootID, err = client.BootID(ctx)
	}
	if err != nil {
		return restoring.Seen{Mute: err.Error()}
	}
	if seen.Data, err = client.HasEtcdData(ctx); err != nil {
		seen.Unread = err.Error()
	}
	return seen
}

func (r *run) probe(ctx context.Context, address string, seen *restoring.Seen) {
	answer, err := r.Etcd.Probe(ctx, address)
	if err != nil {
		seen.Ill = err.Error()
		return
	}
	seen.Etcd = &restoring.Etcd{MemberID: answer.MemberID, Revision: answer.Revision, Members: answer.Members}
}

// hear asks the machine API how an etcd is that gave no answer: it may be out of reach
// from here alone.
func (r *run) hear(ctx context.Context, address string, seen *restoring.Seen) {
	client, err := r.Nodes.Node(address)
	if err == nil {
		var is restoring.Service
		if is, err = client.EtcdService(ctx); err == nil {
			seen.Service = &is
			return
		}
	}
	seen.Unheard = err.Error()
}

// old reads who is in the etcd that is to be wiped, from any node but the own one: that
// one may be gone from it.
func (r *run) old(ctx context.Context, nodes []Node, all *restoring.Observation) {
	if r.marker.Own == "" || r.marker.Step != v1alpha1.StepWiping {
		return
	}
	for _, n := range nodes {
		if n.Machine == r.marker.Own || !all.Nodes[n.Machine].Data {
			continue
		}
		client, err := r.Nodes.Node(n.Address)
		if err == nil {
			all.Old, err = client.Members(ctx)
		}
		if err == nil {
			return
		}
	}
}

// panicked is a panic of one of many.
type panicked struct {
	value any
	stack []byte
}

func (p panicked) String() string { return fmt.Sprint(p.value) }

// together runs f for all at once. A panic in one of them is one of the caller's.
func together(n int, f func(i int)) {
	var running sync.WaitGroup
	var mu sync.Mutex
	var first *panicked
	for i := range n {
		running.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					mu.Lock()
					defer mu.Unlock()
					first = &panicked{p, debug.Stack()}
				}
			}()
			f(i)
		})
	}
	running.Wait()
	if first != nil {
		panic(*first)
	}
}
