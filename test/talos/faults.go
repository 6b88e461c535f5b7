package talos

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Fault is something that goes wrong with a node until it is lifted: make one with
// Silent, Unreachable, Slow, Answer, AnswerAfter, Lose, Meet, CutStream, CutSnapshot,
// LateLeave, RebootBefore, RebootAfter, WithoutVar, WithoutCRI or WithoutTime.
//
// Faults by call name a method of the machine API, such as EtcdLeaveCluster, or one
// of COSI: Get, List, Watch. An empty name means every call. A call is authorized
// before a fault strikes.
type Fault struct {
	call  string
	close bool // nothing gets through
	bar   bool // nobody can connect

	delay    time.Duration // before it acts
	before   error         // instead of acting
	after    error         // after acting
	meets    Meeting       // before acting
	met      Meeting       // after acting
	lose     bool          // the answer
	reboot   moment
	messages int   // of a stream, then it ends
	cut      error // how it ends; nil is a clean end
	cuts     bool
	bytes    int64 // that etcd gives of a snapshot
	snapshot bool
	removed  time.Duration // between removing itself and stopping etcd
	lacks    part          // of a boot
}

// moment is when a fault reboots the machine.
type moment int

const (
	never moment = iota
	beforeActing
	afterAnswer
)

// Silent: the machine accepts connections and never answers.
func Silent() Fault { return Fault{close: true} }

// Unreachable: connections break and new ones are refused. etcd goes on: a whole
// machine that is gone is PowerOff.
func Unreachable() Fault { return Fault{bar: true} }

// Slow: a call begins that much later.
func Slow(call string, by time.Duration) Fault { return Fault{call: call, delay: by} }

// Answer: a call is answered with the error and does nothing.
func Answer(call string, err error) Fault { return Fault{call: call, before: err} }

// AnswerAfter: a call is answered with the error after it has acted.
func AnswerAfter(call string, err error) Fault { return Fault{call: call, after: err} }

// Lose: a call acts, and its answer never comes.
func Lose(call string) Fault { return Fault{call: call, lose: true} }

// Meeting is what happens at a call: its error is what the call is answered with.
type Meeting func(ctx context.Context, call string) error

// Meet: before happens as a call comes, which does not act if that has an error, and after
// once it has acted without one. Each may be nil.
func Meet(call string, before, after Meeting) Fault {
	return Fault{call: call, meets: before, met: after}
}

// CutStream: a stream ends with the error, or cleanly for nil, after so many messages.
func CutStream(call string, messages int, err error) Fault {
	return Fault{call: call, cuts: true, messages: messages, cut: err}
}

// CutSnapshot: etcd's own stream breaks after so many bytes. Talos swallows that:
// the client sees a clean end (Talos 1.13.9, EtcdSnapshot).
func CutSnapshot(bytes int64) Fault { return Fault{call: "EtcdSnapshot", snapshot: true, bytes: bytes} }

// LateLeave: a leave takes that long between the removal of its member and the end of
// etcd, where a client's deadline leaves data behind.
func LateLeave(by time.Duration) Fault { return Fault{call: "EtcdLeaveCluster", removed: by} }

// RebootBefore: the machine loses its power when the call comes, and boots again.
func RebootBefore(call string) Fault { return Fault{call: call, reboot: beforeActing} }

// RebootAfter: the machine reboots in order once the call was answered.
func RebootAfter(call string) Fault { return Fault{call: call, reboot: afterAnswer} }

// WithoutVar: boots from now on mount nothing below /var. One that has it keeps it.
func WithoutVar() Fault { return Fault{lacks: partVar} }

// WithoutCRI: the service cri is down. etcd and the kubelet do not begin without it, and
// go on if they have begun.
func WithoutCRI() Fault { return Fault{lacks: partCRI} }

// WithoutTime: the clock is not in sync. etcd does not begin, and goes on if it has begun.
func WithoutTime() Fault { return Fault{lacks: partTime} }

// faults are those of a node just now. They outlive its reboots.
type faults struct {
	gate *gate
	mu   sync.Mutex
	list []*Fault
}

func newFaults() *faults { return &faults{gate: newGate()} }

// Fault lets something go wrong, and answers what lifts it.
func (n *Node) Fault(f Fault) (lift func()) {
	if f.close {
		return n.faults.gate.close()
	}
	if f.bar {
		return n.faults.gate.bar()
	}
	remove := n.faults.add(&f)
	n.feel()
	return func() { remove(); n.feel() }
}

// feel lets a change of faults strike a boot that runs at once.
func (n *Node) feel() {
	if b, err := n.current(); err == nil {
		n.complain(b.progress())
	}
}

func (f *faults) add(one *Fault) func() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, one)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.list = slices.DeleteFunc(f.list, func(other *Fault) bool { return other == one })
	}
}

// of are the faults of a call.
func (f *faults) of(call string) (out []Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, one := range f.list {
		if one.call == "" || one.call == call {
			out = append(out, *one)
		}
	}
	return out
}

// holds tells whether boots do without this part.
func (f *faults) holds(p part) bool {
	return slices.ContainsFunc(f.of(""), func(one Fault) bool { return one.lacks == p })
}

// once is a fault that a reboot has used up: a machine that reboots at each call would
// never be back.
func (f *faults) once(call string, at moment) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.list, func(one *Fault) bool {
		return one.reboot == at && (one.call == "" || one.call == call)
	})
	if i < 0 {
		return false
	}
	f.list = slices.Delete(f.list, i, i+1)
	return true
}

// late waits for a fault that strikes in the middle of a call.
func (f *faults) late(ctx context.Context, call string) error {
	for _, one := range f.of(call) {
		if err := pause(ctx, one.removed); err != nil {
			return err
		}
	}
	return nil
}
