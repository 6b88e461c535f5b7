package restore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// far is the machine API of a node as a process sees it.
type far struct {
	p *process
	n *machine
}

func (p *process) Node(address string) (NodeClient, error) {
	if n := p.w.node(address); n != nil {
		return far{p, n}, nil
	}
	return nil, fmt.Errorf("no node has the address %s", address)
}

var errSilent = fmt.Errorf("dial: %w", talos.ErrUnreachable)

func (f far) call(name string, act func() error) error {
	return f.p.do(f.n.name+"/"+name, fmt.Errorf("%s: the answer is lost: %w", name, talos.ErrUnreachable), func() error {
		if !f.n.up(f.p.w.at) {
			return errSilent
		}
		if says := f.n.says[name]; len(says) > 0 {
			f.n.says[name] = says[1:]
			if says[0] != nil {
				return fmt.Errorf("%s at %s: %w", name, f.n.address, says[0])
			}
		}
		return act()
	})
}

func (f far) BootID(context.Context) (id string, err error) {
	err = f.call("BootID", func() error { id = fmt.Sprintf("%s-boot-%d", f.n.name, f.n.boot); return nil })
	return id, err
}

func (f far) HasEtcdData(context.Context) (has bool, err error) {
	err = f.call("HasEtcdData", func() error { has = f.n.data != nil || f.n.junk; return nil })
	return has, err
}

func (f far) Members(context.Context) (out []guard.Member, err error) {
	err = f.call("Members", func() error {
		if f.n.data == nil || !f.p.w.alive(f.n.data) {
			return talos.ErrFailed
		}
		out = listed(f.n.data)
		return nil
	})
	return out, err
}

// EtcdService is the machine API's word, which needs no port of etcd.
func (f far) EtcdService(context.Context) (is restoring.Service, err error) {
	err = f.call("EtcdService", func() error {
		m := f.n.member()
		is = restoring.Service{State: "Failed", Says: "hash mismatch"}
		if m != nil && !f.n.idle {
			is = restoring.Service{State: "Running", Healthy: f.p.w.alive(f.n.data), MemberID: m.id, Members: listed(f.n.data)}
		}
		return nil
	})
	return is, err
}

func (f far) Alarms(context.Context) (out []string, err error) {
	err = f.call("Alarms", func() error { out = slices.Clone(f.p.w.alarms); return nil })
	return out, err
}

func (f far) NodeName(context.Context) (string, error) { return f.n.name, nil }

func (f far) Volumes(context.Context) ([]string, error) { return []string{"ETCD"}, nil }

func (f far) ForfeitLeadership(context.Context) error {
	return f.call("ForfeitLeadership", func() error { return nil })
}

func (f far) Leave(ctx context.Context) error {
	if until, ok := ctx.Deadline(); ok && time.Until(until) < talos.LeaveNeeds {
		return talos.ErrShortDeadline // as the real client, which sends nothing then
	}
	return f.call("Leave", func() error {
		f.owns("leave")
		m := f.n.member()
		if m == nil || !f.p.w.alive(f.n.data) || len(f.n.data.members) == 1 {
			return fmt.Errorf("leave: %w", talos.ErrFailed)
		}
		l := f.n.data
		l.members = slices.DeleteFunc(l.members, func(o *member) bool { return o == m })
		f.n.data, f.n.idle = nil, true
		return nil
	})
}

// Reset acts some time later. A second one in the same boot is answered and does
// nothing.
func (f far) Reset(_ context.Context, volumes []string) error {
	return f.call("Reset", func() error {
		f.owns("reset")
		f.intended("reset", func(m *Marker) bool {
			n := m.Node(f.n.name)
			return n.ResetAt != nil && n.ResetAt.Equal(f.p.w.at) && (m.Own != n.Machine || m.OwnWipeAt != nil)
		})
		if !slices.Equal(volumes, []string{"ETCD"}) {
			f.p.w.never("%s is reset with the volumes %v", f.n.name, volumes)
		}
		if m := f.n.member(); m != nil && f.n.data.recovered && !m.learner && f.p.w.alive(f.n.data) {
			f.p.w.never("%s is wiped by %s, and is a voter of the recovered etcd", f.n.name, f.p.id)
		}
		if f.n.wipeAt.IsZero() && !f.n.deaf {
			f.n.wipeAt = f.p.w.at.Add(f.n.resetAfter)
		}
		return nil
	})
}

// owns judges an act that destroys: the store's marker names who may.
func (f far) owns(what string) {
	o, ok := f.p.w.store.objects[MarkerName]
	if !ok {
		f.p.w.never("%s asks %s to %s without a marker", f.p.id, f.n.name, what)
		return
	}
	m, err := Decode(o.data)
	if err == nil && m.Owner.Identity != f.p.id {
		f.p.w.never("%s asks %s to %s, and %s owns the restore", f.p.id, f.n.name, what, m.Owner.Identity)
	}
}

// intended judges that an act is in a marker, of the store or of a folder, before it is
// asked for.
func (f far) intended(what string, has func(*Marker) bool) {
	all := [][]byte{f.p.w.store.objects[MarkerName].data}
	for _, d := range f.p.w.store.desks {
		all = append(all, d.marker)
	}
	for _, data := range all {
		if m, err := Decode(data); err == nil && has(m) {
			return
		}
	}
	f.p.w.never("%s asks %s to %s, and no marker says so", f.p.id, f.n.name, what)
}

func (f far) Recover(_ context.Context, r io.Reader) error {
	data, err := io.ReadAll(r) // asks the store in between, so not under the lock
	if err != nil {
		return err
	}
	return f.call("Recover", func() error { f.owns("recover"); f.n.uploaded = data; return nil })
}

func (f far) Bootstrap(context.Context) error {
	return f.call("Bootstrap", func() error {
		f.owns("bootstrap")
		f.intended("bootstrap", func(m *Marker) bool { return m.BootstrapAt != nil && m.RecoverSince != nil })
		switch {
		case f.p.w.at.Before(f.n.upAt.Add(stepReady)):
			return fmt.Errorf("bootstrap: %w", talos.ErrNotReady)
		case f.n.data != nil || f.n.junk:
			return fmt.Errorf("bootstrap: %w", talos.ErrHasData)
		}
		f.n.recoverAt = f.p.w.at.Add(stepRecover)
		return nil
	})
}

func (f far) RestartKubelet(context.Context) error {
	return f.call("RestartKubelet", func() error { f.n.kubelets++; return nil })
}

var errNoQuorum = errors.New("etcd does not answer")

func (p *process) Probe(_ context.Context, address string) (answer Probe, err error) {
	n := p.w.node(address)
	err = p.do(n.name+"/Probe", fmt.Errorf("probe: %w", context.DeadlineExceeded), func() error {
		m := n.member()
		if n.shut {
			return fmt.Errorf("dial %s:2379: %w: connection refused", n.address, etcd.ErrUnreached)
		}
		if !n.up(p.w.at) || m == nil || m.learner || !p.w.alive(n.data) {
			return errNoQuorum
		}
		answer = Probe{MemberID: m.id, Revision: n.data.revision, Members: listed(n.data)}
		return nil
	})
	return answer, err
}
