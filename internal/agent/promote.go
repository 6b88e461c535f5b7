package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/guard/rejoin"
)

// promoteEvery is how often a learner asks. etcd says no until it has caught up.
const promoteEvery = 500 * time.Millisecond

// Promote asks until the member is a voter, or the context ends. No error ends it:
// the next look may find another configuration.
func (a *Agent) Promote(ctx context.Context) {
	said := ""
	for ctx.Err() == nil {
		done, err := a.promote(ctx)
		if done {
			return
		}
		if text := fmt.Sprint(err); text != said && ctx.Err() == nil {
			a.Log.Info("the member is no voter yet", "because", text)
			said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(promoteEvery):
		}
	}
}

// Why a member is not promoted.
var (
	errNoDisk   = errors.New("it has no WAL yet")
	errUnlisted = errors.New("it is not in the list")
	errPromoted = errors.New("it was promoted just now")
	// A voter without client URLs would be taken for one that never started.
	errUnpublished = errors.New("it has not published its client URLs yet")
	errSurplus     = errors.New("its ordinal has no place among the replicas")
)

// promote is done when the member is a voter. It asks voters: a learner answers
// neither question.
func (a *Agent) promote(ctx context.Context) (done bool, err error) {
	c, id, err := a.load()
	if err != nil {
		return false, err
	}
	disk := rejoin.ReadDisk(c.DataDir)
	if disk.State != rejoin.HasWAL {
		return false, errNoDisk
	}
	live, err := c.list(ctx, a.ListTimeout, disk.ClusterID)
	if err != nil {
		return false, err
	}
	if !live.Answered || live.ClusterID != disk.ClusterID {
		return false, fmt.Errorf("the cluster does not answer: %s", live.Why)
	}
	m, listed := live.ByID(disk.MemberID)
	if !listed {
		return false, fmt.Errorf("member %s: %w", disk.MemberID, errUnlisted)
	}
	if !m.Learner {
		a.Log.Info("the member is a voter", "name", id.Name, "member", disk.MemberID)
		return true, nil
	}
	switch {
	case id.Ordinal >= c.Cluster.Replicas:
		return false, fmt.Errorf("%w: %d of %d", errSurplus, id.Ordinal, c.Cluster.Replicas)
	case !m.Started():
		return false, errUnpublished
	}
	return false, c.promote(ctx, live, disk.MemberID, a.ListTimeout)
}

func (c *Config) promote(ctx context.Context, live rejoin.Live, id rejoin.ID, timeout time.Duration) error {
	err := c.through(ctx, live, timeout, func(ctx context.Context, cluster clientv3.Cluster) error {
		_, err := cluster.MemberPromote(ctx, uint64(id))
		return err
	})
	if err == nil || errors.Is(err, rpctypes.ErrMemberNotLearner) {
		return errPromoted // the next look sees the voter
	}
	return fmt.Errorf("promote member %s: %w", id, err)
}
