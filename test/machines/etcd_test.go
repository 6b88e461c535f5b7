package machines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// askTimeout bounds one question to etcd.
const askTimeout = 3 * time.Second

// members are etcd's own by a linearizable list of the first control plane that
// answers.
func (f *fleet) members(ctx context.Context) (out []*etcdserverpb.Member, err error) {
	for _, n := range f.talos.ControlPlanes() {
		err = ask(ctx, n, func(ctx context.Context, c *clientv3.Client) error {
			list, err := c.MemberList(ctx)
			if err == nil {
				out = list.Members
			}
			return err
		})
		if err == nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("no control plane lists the members: %w", err)
}

func ask(ctx context.Context, n *talos.Node, question func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c, err := n.Etcd(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	return question(ctx, c)
}

// lists waits until etcd has exactly these members, all of them voters. One that has not
// started has an empty name.
func (f *fleet) lists(names ...string) {
	f.t.Helper()
	f.until("etcd to list "+strings.Join(names, ", "), func(ctx context.Context) error {
		members, err := f.members(ctx)
		if err != nil {
			return err
		}
		return sameNames(members, names)
	})
}

func sameNames(members []*etcdserverpb.Member, names []string) error {
	var got []string
	for _, m := range members {
		if m.IsLearner {
			return fmt.Errorf("%w: %s is a learner", errNotYet, m.Name)
		}
		got = append(got, m.Name)
	}
	want := slices.Sorted(slices.Values(names))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		return fmt.Errorf("%w: the members are %q, want %q", errNotYet, got, want)
	}
	return nil
}

// keeps wants etcd to have had exactly these members all the time.
func (f *fleet) keeps(during time.Duration, names ...string) {
	f.t.Helper()
	f.stays("etcd to list "+strings.Join(names, ", "), during, func(ctx context.Context) error {
		members, err := f.members(ctx)
		if err != nil {
			return err
		}
		return sameNames(members, names)
	})
}

// id is the member ID of a node whose etcd is well.
func (f *fleet) id(name string) uint64 {
	f.t.Helper()
	id, err := f.talos.Node(name).MemberID(f.t.Context())
	must(f.t, err)
	return id
}

// hex is a member ID as the API writes it.
func hex(id uint64) v1alpha1.HexID { return v1alpha1.HexID(fmt.Sprintf("%x", id)) }

// leader is the name of the member that leads.
func (f *fleet) leader() string {
	f.t.Helper()
	var leads string
	f.until("a leader", func(ctx context.Context) error {
		for _, n := range f.talos.ControlPlanes() {
			err := ask(ctx, n, func(ctx context.Context, c *clientv3.Client) error {
				s, err := c.Status(ctx, c.Endpoints()[0])
				if err == nil && s.Leader == s.Header.MemberId {
					leads = n.Name
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		if leads == "" {
			return errNotYet
		}
		return nil
	})
	return leads
}

// lead moves the leadership to a member.
func (f *fleet) lead(name string) {
	f.t.Helper()
	id := f.id(name)
	f.until(name+" to lead", func(ctx context.Context) error {
		now := f.leader()
		if now == name {
			return nil
		}
		err := ask(ctx, f.talos.Node(now), func(ctx context.Context, c *clientv3.Client) error {
			_, err := c.MoveLeader(ctx, id)
			return err
		})
		return fmt.Errorf("%w: %s leads (%v)", errNotYet, now, err)
	})
}
