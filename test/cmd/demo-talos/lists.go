package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/fleet"
)

// lists is a beat: etcd's own member list, once these are its members and all of them
// are voters; or the last one, which is wrong.
type lists struct {
	name string
	want []string
}

func (l lists) play(ctx context.Context, s *show) ([]string, error) {
	return s.list(ctx, l.name, "the voters are "+strings.Join(l.want, ", "), func(members []fleet.Member) error {
		return differs(members, l.want)
	}), nil
}

// rejoins is a beat: a machine reboots, and etcd lists a member at its place again.
type rejoins struct {
	machine string
	reboot  happens
}

func (r rejoins) play(ctx context.Context, s *show) ([]string, error) {
	if err := s.happen(ctx, r.reboot); err != nil {
		return nil, err
	}
	url := s.fleet.Talos.Node(r.machine).PeerURL()
	return s.list(ctx, "it joins by itself", "etcd lists "+r.machine+" again", func(members []fleet.Member) error {
		if !slices.ContainsFunc(members, func(m fleet.Member) bool { return slices.Contains(m.PeerURLs, url) }) {
			return fmt.Errorf("%w: nobody is at %s", errNotYet, url)
		}
		return nil
	}), nil
}

// list shows etcd's list as soon as check is content, and answers what is wrong.
func (s *show) list(ctx context.Context, name, want string, check func([]fleet.Member) error) (problems []string) {
	var members []fleet.Member
	var by string
	err := cluster.Until(ctx, "etcd's list", func(ctx context.Context) (err error) {
		if members, by, err = s.fleet.Members(ctx); err != nil {
			return err
		}
		return check(members)
	})
	if err != nil {
		problems = []string{err.Error()}
	}
	for _, t := range s.transcripts {
		t.Found("etcd's own member list, by "+by, table(members), name, want, problems)
	}
	return problems
}

var errNotYet = errors.New("not yet")

// differs tells what is not as wanted.
func differs(members []fleet.Member, want []string) error {
	var got []string
	for _, m := range members {
		got = append(got, m.Name)
		if m.Learner {
			return fmt.Errorf("%w: %s is a learner", errNotYet, m.Name)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%w: the members are %q", errNotYet, got)
	}
	return nil
}

// table has a member a line.
func table(members []fleet.Member) string {
	var b strings.Builder
	for _, m := range members {
		role := "voter"
		switch {
		case m.Learner:
			role = "learner"
		case m.Leader:
			role = "leader"
		}
		fmt.Fprintf(&b, "  %-6s %16s  %-8s %s\n", m.Name, m.ID, role, strings.Join(m.PeerURLs, ", "))
	}
	return b.String()
}
