package etcd

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/guard"
)

// View is a cluster at one moment.
type View struct {
	ClusterID uint64
	Members   []guard.Member
	// ClientURLs are those that each member has published, by its ID.
	ClientURLs map[uint64][]string
	// Alarms are the names of the alarms that etcd attributes to each member.
	Alarms map[uint64][]string
	// Complaints say why a started member is not healthy, by its ID.
	Complaints map[uint64]string
}

// statusTimeout bounds the question to one member: a healthy one answers at once.
const statusTimeout = 3 * time.Second

// View reads the linearizable member list, the alarms, and each member's own
// status. It fails without a quorum, and with ErrOtherCluster.
func (c *Client) View(ctx context.Context) (*View, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
	defer cancel()
	list, err := c.etcd.MemberList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the members of etcd at %v: %w", c.options.Endpoints, err)
	}
	if want, got := c.options.ClusterID, list.Header.ClusterId; want != 0 && want != got {
		return nil, fmt.Errorf("list the members of etcd at %v: %w: %x, and not %x", c.options.Endpoints, ErrOtherCluster, got, want)
	}
	alarms, err := c.etcd.AlarmList(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the alarms of etcd: %w", err)
	}
	v := &View{ClusterID: list.Header.ClusterId, ClientURLs: map[uint64][]string{}, Alarms: map[uint64][]string{}, Complaints: map[uint64]string{}}
	for _, a := range alarms.Alarms {
		v.Alarms[a.MemberID] = append(v.Alarms[a.MemberID], a.Alarm.String())
	}
	v.Members = c.examine(ctx, v, list.Members)
	return v, nil
}

// examine asks all members at once.
func (c *Client) examine(ctx context.Context, v *View, listed []*etcdserverpb.Member) []guard.Member {
	members := make([]guard.Member, len(listed))
	complaints := make([]string, len(listed))
	var asked sync.WaitGroup
	for i, m := range listed {
		v.ClientURLs[m.ID] = m.ClientURLs
		members[i] = guard.Member{ID: m.ID, Name: m.Name, PeerURLs: m.PeerURLs, Learner: m.IsLearner, Started: len(m.ClientURLs) > 0}
		if !members[i].Started {
			continue
		}
		corrupt := slices.Contains(v.Alarms[m.ID], etcdserverpb.AlarmType_CORRUPT.String())
		asked.Go(func() {
			status, err := c.status(ctx, m)
			members[i].Healthy, complaints[i] = health(status, err, corrupt)
			members[i].Leader = err == nil && status.Leader == m.ID
		})
	}
	asked.Wait()
	for i, text := range complaints {
		if text != "" {
			v.Complaints[members[i].ID] = text
		}
	}
	return members
}

// health judges a member by its own answer. A nil error alone is none: a member
// without a quorum answers too, and lists every member's alarms as its errors.
func health(status *clientv3.StatusResponse, err error, corrupt bool) (bool, string) {
	switch {
	case err != nil:
		return false, err.Error()
	case status.Leader == 0:
		return false, "it has no leader"
	case corrupt:
		return false, "it has raised the alarm CORRUPT"
	}
	return true, ""
}

// status asks a member by its own client URLs.
func (c *Client) status(ctx context.Context, m *etcdserverpb.Member) (*clientv3.StatusResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var status *clientv3.StatusResponse
	var err error
	for _, url := range m.ClientURLs {
		if status, err = c.ask(ctx, url); err == nil {
			return status, nil
		}
	}
	return nil, err
}

func (c *Client) ask(ctx context.Context, url string) (*clientv3.StatusResponse, error) {
	client, err := c.Via(ctx, []string{url})
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Close() }() // nothing is written through it
	return client.etcd.Status(ctx, url)
}
