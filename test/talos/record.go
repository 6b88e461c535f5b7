package talos

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// Call is one call of a node's machine API that arrived, allowed or not. What a fault
// of the connection keeps back has not arrived.
type Call struct {
	// Node is the name of the node that was asked.
	Node string
	// Method is the name without the service, such as EtcdLeaveCluster, or Get of COSI.
	Method string
	// Resource is the type that a Get of COSI asks for, such as Members.etcd.talos.dev.
	Resource string
	// MemberID is who is to go: of EtcdRemoveMemberByID, and of EtcdLeaveCluster where
	// the node knows its own. 0 otherwise.
	MemberID uint64
	// Listing tells whether etcd listed that member when the call came.
	Listing Listing
	// Members are those that etcd listed then, for a call that is about a member.
	Members []uint64
	// Began and Ended frame the call; Ended is zero while it is under way.
	Began, Ended time.Time
	// Err is what it was answered with.
	Err error
}

// Listing is what etcd said of a member.
type Listing string

// What etcd can say: Unknown is for calls that are about no member, and for an etcd
// that did not answer.
const (
	Unknown Listing = ""
	Listed  Listing = "listed"
	Gone    Listing = "gone"
)

// record holds the calls of a node in the order of their arrival. It outlives reboots.
type record struct {
	mu    sync.Mutex
	calls []*Call
}

func (r *record) begin(c Call) *Call {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, &c)
	return &c
}

func (r *record) end(c *Call, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c.Ended, c.Err = time.Now(), err
}

// Calls are those that have arrived at the node so far.
func (n *Node) Calls() []Call {
	n.record.mu.Lock()
	defer n.record.mu.Unlock()
	var out []Call
	for _, c := range n.record.calls {
		out = append(out, *c)
	}
	return out
}

// Calls are those of all nodes by the time of their arrival.
func (c *Cluster) Calls() []Call {
	var out []Call
	for _, n := range c.Nodes() {
		out = append(out, n.Calls()...)
	}
	slices.SortStableFunc(out, func(a, b Call) int { return a.Began.Compare(b.Began) })
	return out
}

func (b *boot) recordUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	c := b.node.record.begin(b.arrived(ctx, callName(info.FullMethod), req))
	answer, err := handler(ctx, req)
	b.node.record.end(c, err)
	return answer, err
}

func (b *boot) recordStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c := b.node.record.begin(b.arrived(stream.Context(), callName(info.FullMethod), nil))
	err := handler(srv, stream)
	b.node.record.end(c, err)
	return err
}

func (b *boot) arrived(ctx context.Context, method string, req any) Call {
	c := Call{Node: b.node.Name, Method: method, Began: time.Now()}
	switch r := req.(type) {
	case *v1alpha1.GetRequest:
		c.Resource = r.GetType()
	case *machine.EtcdRemoveMemberByIDRequest:
		c.MemberID = r.GetMemberId()
	case *machine.EtcdLeaveClusterRequest:
		c.MemberID, _ = b.node.MemberID(ctx) // a member that is not healthy is not known
	}
	c.Members, c.Listing = b.listing(ctx, c.MemberID)
	return c
}

// listingTimeout bounds the look at etcd that precedes a removal.
const listingTimeout = time.Second

func (b *boot) listing(ctx context.Context, id uint64) (members []uint64, of Listing) {
	if id == 0 || b.node.worker {
		return nil, Unknown
	}
	ctx, cancel := context.WithTimeout(ctx, listingTimeout)
	defer cancel()
	client, err := b.clusterClient(ctx)
	if err != nil {
		return nil, Unknown
	}
	defer client.Close()
	list, err := client.MemberList(clientv3.WithRequireLeader(ctx))
	if err != nil {
		return nil, Unknown
	}
	for _, m := range list.Members {
		members = append(members, m.ID)
	}
	if slices.Contains(members, id) {
		return members, Listed
	}
	return members, Gone
}

// Etcd is a client of the node's own etcd, for a test that looks past the machine API.
// It ends with ctx.
func (n *Node) Etcd(ctx context.Context) (*clientv3.Client, error) {
	b, err := n.current()
	if err != nil {
		return nil, err
	}
	return b.localClient(ctx)
}
