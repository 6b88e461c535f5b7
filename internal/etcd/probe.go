package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// What a caller of Probe branches on.
var (
	// ErrLearner: the member is a learner, which has no list to give.
	ErrLearner = errors.New("the member is a learner")
	// ErrUnreached: no connection came about, as it was refused, was silent, or ended in its
	// handshake. It says nothing of the member.
	ErrUnreached = errors.New("etcd cannot be reached")
	// ErrEndpoints: a probe is of one endpoint.
	ErrEndpoints = errors.New("a probe wants one endpoint")
	// ErrTwoMembers: what listed the members and what told of itself are not the same.
	ErrTwoMembers = errors.New("two members answer at one endpoint")
)

// ProbeResult is what one member says of itself and of its cluster.
type ProbeResult struct {
	ClusterID, MemberID uint64
	// Revision is the last that the member has applied, after the list was read: at least
	// that of the quorum at the begin of the probe.
	Revision int64
	// Leader is the leader's ID, 0 without one.
	Leader  uint64
	Learner bool
	// Members are the linearizable list.
	Members []Listed
}

// Listed is a member as its cluster lists it, whose health nobody has asked for.
type Listed struct {
	ID uint64
	// Name is empty until a member that was added has started.
	Name                 string
	PeerURLs, ClientURLs []string
	Learner              bool
}

// Started tells whether the member has published client URLs.
func (m Listed) Started() bool { return len(m.ClientURLs) > 0 }

// Probe asks the member at the one endpoint of o, and no other one. Which cluster that is of
// is part of the answer, whatever o.ClusterID says. It fails without a quorum. For a
// learner it fails with ErrLearner, and the result has all but Members. After another
// error the result is empty; it is ErrUnreached where nobody could be asked.
func Probe(ctx context.Context, o Options) (ProbeResult, error) {
	if len(o.Endpoints) != 1 {
		return ProbeResult{}, fmt.Errorf("probe etcd at %v: %w", o.Endpoints, ErrEndpoints)
	}
	c, err := New(ctx, o)
	if err != nil {
		return ProbeResult{}, err
	}
	defer func() { _ = c.Close() }() // nothing is written through it
	ctx, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
	defer cancel()
	result, err := c.probe(ctx)
	if err != nil {
		err = fmt.Errorf("probe etcd at %s: %w", o.Endpoints[0], err)
	}
	return result, err
}

func (c *Client) probe(ctx context.Context) (ProbeResult, error) {
	// The calls of clientv3 wait for a connection until time is up, and do not say why
	// there is none.
	conn := c.etcd.ActiveConnection()
	list, listErr := etcdserverpb.NewClusterClient(conn).MemberList(ctx, &etcdserverpb.MemberListRequest{Linearizable: true})
	status, err := etcdserverpb.NewMaintenanceClient(conn).Status(ctx, &etcdserverpb.StatusRequest{})
	switch {
	case err == nil && status.IsLearner:
		return resultOf(status, nil), ErrLearner
	case listErr != nil:
		return ProbeResult{}, fmt.Errorf("list the members: %w", reached(conn, listErr))
	case err != nil:
		return ProbeResult{}, fmt.Errorf("read the member's status: %w", reached(conn, err))
	case list.Header.ClusterId != status.Header.ClusterId || list.Header.MemberId != status.Header.MemberId:
		return ProbeResult{}, fmt.Errorf("%w: %x of %x, and %x of %x", ErrTwoMembers,
			list.Header.MemberId, list.Header.ClusterId, status.Header.MemberId, status.Header.ClusterId)
	}
	return resultOf(status, list.Members), nil
}

// reached tells an error of a member from one of the way to it. A connection that once was
// there is idle or ready.
func reached(conn *grpc.ClientConn, err error) error {
	switch conn.GetState() {
	case connectivity.Connecting, connectivity.TransientFailure:
		return fmt.Errorf("%w: %w", ErrUnreached, err)
	}
	return err
}

func resultOf(s *etcdserverpb.StatusResponse, members []*etcdserverpb.Member) ProbeResult {
	result := ProbeResult{
		ClusterID: s.Header.ClusterId, MemberID: s.Header.MemberId, Revision: s.Header.Revision, Leader: s.Leader, Learner: s.IsLearner,
	}
	for _, m := range members {
		result.Members = append(result.Members, Listed{m.ID, m.Name, m.PeerURLs, m.ClientURLs, m.IsLearner})
	}
	return result
}
