package restore

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// Talos reaches the nodes and their etcd by the cluster's secrets bundle. Safe for many
// at once.
type Talos struct {
	Bundle  *talos.Bundle
	Options talos.Options // but for the address
	// EtcdURL is where the member of a node at an address listens; nil for port 2379.
	EtcdURL func(address string) string

	mu    sync.Mutex
	nodes map[string]*talos.Restorer
}

var (
	_ Nodes = (*Talos)(nil)
	_ Etcd  = (*Talos)(nil)
)

// Node is the client of one node, kept for the next time.
func (t *Talos) Node(address string) (NodeClient, error) {
	r, err := t.restorer(address)
	if err != nil {
		return nil, err
	}
	return node{r}, nil
}

func (t *Talos) restorer(address string) (*talos.Restorer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.nodes[address]; ok {
		return r, nil
	}
	o := t.Options
	o.Address = address
	r, err := talos.NewRestorer(t.Bundle, o)
	if err != nil {
		return nil, err
	}
	if t.nodes == nil {
		t.nodes = map[string]*talos.Restorer{}
	}
	t.nodes[address] = r
	return r, nil
}

// Snapshot streams a snapshot of the etcd of the node at an address.
func (t *Talos) Snapshot(ctx context.Context, address string) (io.ReadCloser, error) {
	r, err := t.restorer(address)
	if err != nil {
		return nil, err
	}
	return r.Snapshot(ctx)
}

// Close ends all connections.
func (t *Talos) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	var errs []error
	for _, r := range t.nodes {
		errs = append(errs, r.Close())
	}
	t.nodes = nil
	return errors.Join(errs...)
}

// Probe asks the member on a node.
func (t *Talos) Probe(ctx context.Context, address string) (Probe, error) {
	url := etcdURL(address)
	if t.EtcdURL != nil {
		url = t.EtcdURL(address)
	}
	answer, err := etcd.Probe(ctx, etcd.Options{Endpoints: []string{url}, TLS: t.Bundle.EtcdTLS()})
	if err != nil {
		return Probe{}, err
	}
	p := Probe{ClusterID: answer.ClusterID, MemberID: answer.MemberID, Revision: answer.Revision}
	for _, m := range answer.Members {
		p.Members = append(p.Members, guard.Member{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, Learner: m.Learner, Started: m.Started()})
	}
	return p, nil
}

func etcdURL(address string) string {
	return "https://" + net.JoinHostPort(Node{Address: address}.Host(), "2379")
}

// node is the machine API in the words of this package.
type node struct{ r *talos.Restorer }

func (n node) BootID(ctx context.Context) (string, error)        { return n.r.BootID(ctx) }
func (n node) HasEtcdData(ctx context.Context) (bool, error)     { return n.r.HasEtcdData(ctx) }
func (n node) Leave(ctx context.Context) error                   { return n.r.Leave(ctx) }
func (n node) Reset(ctx context.Context, volumes []string) error { return n.r.Reset(ctx, volumes) }
func (n node) Recover(ctx context.Context, snapshot io.Reader) error {
	return n.r.Recover(ctx, snapshot)
}
func (n node) Bootstrap(ctx context.Context) error                     { return n.r.Bootstrap(ctx) }
func (n node) RestartKubelet(ctx context.Context) error                { return n.r.RestartKubelet(ctx) }
func (n node) Volumes(ctx context.Context) (volumes []string, _ error) { return n.r.Volumes(ctx) }

func (n node) ForfeitLeadership(ctx context.Context) error {
	_, err := n.r.ForfeitLeadership(ctx)
	return err
}

func (n node) Members(ctx context.Context) ([]guard.Member, error) {
	listed, err := n.r.Members(ctx)
	var members []guard.Member
	for _, m := range listed {
		members = append(members, guard.Member{ID: m.ID, Name: m.Hostname, PeerURLs: m.PeerURLs, Learner: m.Learner, Started: len(m.ClientURLs) > 0})
	}
	return members, err
}

// EtcdService asks for the members only where etcd is healthy: they prove nothing else.
func (n node) EtcdService(ctx context.Context) (restoring.Service, error) {
	s, err := n.r.EtcdService(ctx)
	if errors.Is(err, talos.ErrNotFound) {
		return restoring.Service{State: "not there"}, nil
	}
	is := restoring.Service{State: s.State, Says: cmp.Or(s.Event, s.Health), Healthy: s.Healthy}
	if err != nil || !s.Healthy {
		return is, err
	}
	own, err := n.r.EtcdStatus(ctx)
	if err != nil {
		return is, err
	}
	is.MemberID = own.MemberID
	is.Members, err = n.Members(ctx)
	return is, err
}

func (n node) Alarms(ctx context.Context) ([]string, error) {
	raised, err := n.r.Alarms(ctx)
	var names []string
	for _, a := range raised {
		names = append(names, a.Name)
	}
	return names, err
}

// NodeName is the hostname while the node has no name in Kubernetes.
func (n node) NodeName(ctx context.Context) (string, error) {
	name, err := n.r.NodeName(ctx)
	if errors.Is(err, talos.ErrNotFound) {
		name, _, err = n.r.Hostname(ctx)
	}
	return name, err
}
