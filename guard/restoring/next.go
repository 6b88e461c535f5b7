package restoring

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Kind is a kind of act.
type Kind string

// The acts. Each is asked of one node.
const (
	// ActLeave: forfeit leadership, and leave etcd.
	ActLeave Kind = "leave"
	// ActReset: wipe and reboot.
	ActReset Kind = "reset"
	// ActUpload: bring the snapshot.
	ActUpload Kind = "upload"
	// ActBootstrap: recover etcd from what was brought.
	ActBootstrap Kind = "bootstrap"
	// ActKubelet: restart the kubelet.
	ActKubelet Kind = "restart-kubelet"
	// ActAlarms: ask for alarms. It changes nothing.
	ActAlarms Kind = "alarms"
)

// Destroys tells whether the act must be the owner's alone.
func (k Kind) Destroys() bool { return k != ActAlarms && k != ActKubelet }

// Act is something to ask of a node now.
type Act struct {
	Kind Kind
	Node string
	Why  string
	// Extra: it was counted in ExtraWipes.
	Extra bool
}

// Decision is what happens next. State is saved before the acts are carried out.
type Decision struct {
	State State
	// Acts are carried out at once, all of them.
	Acts []Act
	// Note is what is done or waited for, by name.
	Note string
	// Confirm asks for one more look at once, and for the same decision from it: what
	// was looked at one after another is true of one moment only then.
	Confirm bool
}

// turn is a decision in the making.
type turn struct {
	State
	seen Observation
	now  time.Time
	l    Limits
	acts []Act
	// waits say what is waited for, by name.
	waits   []string
	confirm bool
}

// Next decides what the job does after a look. It is done when State.Done is set, and
// has given up when State.Failure is.
func Next(s State, seen Observation, now time.Time, l Limits) Decision {
	s.Nodes = slices.Clone(s.Nodes)
	t := &turn{State: s, seen: seen, now: now, l: l.Filled()}
	if s.Done || s.Failure != "" {
		return Decision{State: s}
	}
	t.step()
	note := t.note()
	if t.Failure == "" && !t.Done {
		if t.Failure = Overdue(t.State, note, now, t.l); t.Failure != "" {
			t.Failure += t.offForGood()
		}
	}
	if t.Failure != "" {
		t.acts = nil
	}
	return Decision{State: t.State, Acts: t.acts, Note: note, Confirm: t.confirm}
}

func (t *turn) step() {
	wiping := t.Step == v1alpha1.StepWiping || t.Step == v1alpha1.StepRecovering
	switch {
	case wiping && t.recovered(t.seen) != nil:
		t.enter(v1alpha1.StepRejoining)
	case t.Step == v1alpha1.StepWiping:
		t.wiping()
	case t.Step == v1alpha1.StepRecovering:
		t.recovering()
	default:
		t.rejoining()
	}
}

// enter goes on to a step; what it does is decided after the next look.
func (t *turn) enter(step v1alpha1.RestoreStep) {
	t.Step = step
	switch step {
	case v1alpha1.StepRecovering:
		t.RecoverSince, t.BootstrapAt, t.BootstrapOK, t.UploadBoot = &t.now, nil, false, ""
		t.wait("no control plane has etcd data any more; " + t.Target + " gets the snapshot")
	case v1alpha1.StepRejoining:
		t.RejoinSince = &t.now
		t.wait("etcd is recovered; the other control planes join it")
	}
}

// Overdue says that the restore has taken too long; empty if not. note is what is waited
// for.
func Overdue(s State, note string, now time.Time, l Limits) string {
	l, took := l.Filled(), now.Sub(s.Since)
	before := s.Step == v1alpha1.StepWiping || s.Step == v1alpha1.StepRecovering
	switch {
	case before && took > l.Recover:
		return fmt.Sprintf("etcd was not recovered within %s. Last: %s.", l.Recover, note)
	case took > l.All:
		return fmt.Sprintf("The restore was not over within %s. Last: %s.", l.All, note)
	}
	return ""
}

func (t *turn) wait(what string) { t.waits = append(t.waits, what) }

func (t *turn) ask(kind Kind, node, why string) {
	t.acts = append(t.acts, Act{Kind: kind, Node: node, Why: why})
}

// extra marks the last act as a wipe beyond the first.
func (t *turn) extra() {
	t.ExtraWipes++
	t.acts[len(t.acts)-1].Extra = true
}

// note has the acts first, then what is waited for.
func (t *turn) note() string {
	var said []string
	for _, a := range t.acts {
		said = append(said, strings.TrimSpace(verbs[a.Kind]+" "+a.Node)+because(a.Why))
	}
	return strings.Join(append(said, t.waits...), "; ")
}

var verbs = map[Kind]string{
	ActLeave: "taking out of etcd", ActReset: "wiping", ActUpload: "bringing the snapshot to", ActBootstrap: "recovering etcd on",
	ActKubelet: "restarting the kubelet of", ActAlarms: "asking for alarms",
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

func (t *turn) node(machine string) *Node {
	for i := range t.Nodes {
		if t.Nodes[i].Machine == machine {
			return &t.Nodes[i]
		}
	}
	return nil
}
