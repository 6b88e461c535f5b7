package machine

import (
	"context"
	"errors"
	"slices"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/talos"
)

// playedNode is one machine's node, asked by one process of the controller.
type playedNode struct {
	p    *played
	m    *mortal
	name string
}

var errUnhealthy = errors.Join(talos.ErrFailed, errors.New("unhealthy cluster"))

var errSilence = errors.Join(talos.ErrUnreachable, errors.New("silent for 5s"))

// ask is a call that changes nothing.
func (n *playedNode) ask(what string, do func() error) error {
	return n.m.call(what+" "+n.name, func() error {
		n.p.mu.Lock()
		defer n.p.mu.Unlock()
		if n.p.silent[n.name] {
			return errSilence
		}
		return do()
	})
}

func (n *playedNode) own() (guard.Member, bool) {
	i := slices.IndexFunc(n.p.members, func(m guard.Member) bool { return m.Name == n.name })
	if i < 0 {
		return guard.Member{}, false
	}
	return n.p.members[i], true
}

func (n *playedNode) Version(context.Context) (v string, err error) {
	return "v1.13.9", n.ask("version of", func() error { return nil })
}

func (n *playedNode) VerifyCluster(context.Context) error {
	return n.ask("cluster of", func() error { return n.p.foreign[n.name] })
}

func (n *playedNode) NodeName(context.Context) (string, error) {
	name := n.name
	if other, ok := n.p.reports[n.name]; ok {
		name = other
	}
	return name, n.ask("name of", func() error { return nil })
}

func (n *playedNode) MemberID(context.Context) (id uint64, err error) {
	err = n.ask("member of", func() error {
		m, ok := n.own()
		if !ok {
			return talos.ErrNotFound
		}
		id = m.ID
		return nil
	})
	return id, err
}

func (n *playedNode) Members(context.Context) (out []talos.Member, err error) {
	err = n.ask("members by", func() error {
		for _, m := range n.p.members {
			out = append(out, talos.Member{ID: m.ID, Hostname: m.Name, PeerURLs: m.PeerURLs, Learner: m.Learner})
		}
		return nil
	})
	return out, err
}

func (n *playedNode) ConfigStaged(context.Context) (staged bool, err error) {
	err = n.ask("configuration of", func() error {
		staged = n.p.staged[n.name]
		return n.p.configErr
	})
	return staged, err
}

func (n *playedNode) ForfeitLeadership(context.Context) (to string, err error) {
	err = n.ask("forfeit leadership of", func() error {
		for i := range n.p.members {
			n.p.members[i].Leader = false
		}
		n.p.members[0].Leader, to = true, n.p.members[0].Name
		return nil
	})
	return to, err
}

func (n *playedNode) Leave(ctx context.Context) error {
	if n.p.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return n.ask("leave of", func() error {
		m, ok := n.own()
		if !ok {
			n.p.sent = append(n.p.sent, "leave of one that is gone")
			return talos.ErrNotFound
		}
		n.p.drop("leave", m.ID)
		if n.p.leaveFails {
			return talos.ErrFailed
		}
		return nil
	})
}

func (n *playedNode) RemoveMember(_ context.Context, id uint64) error {
	return n.ask("removal by", func() error {
		if n.p.denies[n.name] {
			return talos.ErrDenied
		}
		if n.p.refusals--; n.p.refusals >= 0 {
			return errUnhealthy
		}
		n.p.drop("removal", id)
		return nil
	})
}

func (n *playedNode) Close() error { return nil }
