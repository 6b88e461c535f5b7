package restoring

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) *time.Time { at := noon.Add(-d); return &at }

// started is a restore of three control planes and a worker, 5 minutes old.
func started(step v1alpha1.RestoreStep) State {
	s := State{Step: step, Since: noon.Add(-5 * time.Minute), Target: "cp-a", Floor: 1000, RejoinSince: before(time.Minute)}
	for i, name := range []string{"cp-a", "cp-b", "cp-c"} {
		s.Nodes = append(s.Nodes, Node{Machine: name, NodeName: name, Address: fmt.Sprintf("192.0.2.%d", i+1), Role: v1alpha1.MachineControlPlane,
			BootID: "1", ResetAt: before(time.Minute), Answered: true})
	}
	s.Nodes = append(s.Nodes, Node{Machine: "worker-0", Address: "192.0.2.9", Role: v1alpha1.MachineWorker})
	return s
}

// etcdOf is an answer of the first of some nodes, all voters.
func etcdOf(revision int64, nodes ...string) *Etcd {
	e := &Etcd{MemberID: 1, Revision: revision}
	for i, n := range nodes {
		e.Members = append(e.Members, guard.Member{ID: uint64(i + 1), Name: n, Started: true})
	}
	return e
}

// empties are all nodes, rebooted and without data.
func empties() map[string]Seen {
	return map[string]Seen{"cp-a": {BootID: "2"}, "cp-b": {BootID: "2"}, "cp-c": {BootID: "2"}}
}

// covers: C-13, C-14, C-15, C-18, C-19
func TestNext(t *testing.T) {
	const wiping, recovering, rejoining = v1alpha1.StepWiping, v1alpha1.StepRecovering, v1alpha1.StepRejoining
	for _, tt := range []struct {
		name   string
		step   v1alpha1.RestoreStep
		change func(*State, map[string]Seen)
		// what comes of it: step, acts, note
		wantStep v1alpha1.RestoreStep
		want     string
	}{
		{"all are empty", wiping, func(*State, map[string]Seen) {}, recovering,
			"no control plane has etcd data any more; cp-a gets the snapshot"},
		{"not rebooted", wiping, func(_ *State, seen map[string]Seen) { seen["cp-b"] = Seen{BootID: "1"} }, wiping,
			"cp-b is being wiped and has yet to reboot"},
		{"data, not rebooted", wiping, func(_ *State, seen map[string]Seen) { seen["cp-b"] = Seen{BootID: "1", Data: true} }, wiping,
			"cp-b was asked at 11:59:00 and has etcd data still"},
		{"data, not answered", wiping, func(s *State, seen map[string]Seen) {
			s.Nodes[1].Answered = false
			seen["cp-b"] = Seen{BootID: "1", Data: true}
		}, wiping, "wiping cp-b (it has not rebooted since 11:59:00)"},
		{"data after a reboot", wiping, func(_ *State, seen map[string]Seen) { seen["cp-b"] = Seen{BootID: "2", Data: true} }, wiping,
			"wiping cp-b (it has rebooted and has etcd data again)"},
		{"mute and unread", wiping, func(_ *State, seen map[string]Seen) {
			seen["cp-b"], seen["cp-c"] = Seen{Mute: "refused"}, Seen{BootID: "2", Unread: "I/O error"}
		}, wiping, "cp-b does not answer, as one that reboots: refused; cp-c does not say whether it has etcd data: I/O error"},
		{"recovered already", wiping, func(_ *State, seen map[string]Seen) {
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a")}
		}, rejoining, "etcd is recovered; the other control planes join it"},
		{"an etcd below the floor", wiping, func(_ *State, seen map[string]Seen) {
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(999, "cp-a")}
		}, wiping, "wiping cp-a (it has rebooted and has etcd data again)"},
		{"bring", recovering, func(*State, map[string]Seen) {}, recovering, "bringing the snapshot to cp-a"},
		{"brought", recovering, func(s *State, _ map[string]Seen) { s.UploadBoot = "2" }, recovering, "recovering etcd on cp-a"},
		{"brought before a reboot", recovering, func(s *State, _ map[string]Seen) { s.UploadBoot = "1" }, recovering, "bringing the snapshot to cp-a"},
		{"another has data before the request", recovering, func(s *State, seen map[string]Seen) {
			s.UploadBoot = "2"
			seen["cp-c"] = Seen{BootID: "2", Data: true}
		}, recovering, "wiping cp-c (it has rebooted and has etcd data again)"},
		{"data is no proof", recovering, func(s *State, seen map[string]Seen) {
			s.BootstrapAt, s.BootstrapBoot = before(time.Minute), "2"
			seen["cp-a"] = Seen{BootID: "2", Data: true, Ill: "no leader"}
		}, recovering, "etcd on cp-a has data and has yet to prove that it is recovered: no leader"},
		{"a request lost by a reboot", recovering, func(s *State, _ map[string]Seen) {
			s.BootstrapAt, s.BootstrapBoot, s.UploadBoot, s.BootstrapOK = before(time.Second), "1", "1", true
		}, recovering, "bringing the snapshot to cp-a"},
		{"no proof after the grace", recovering, func(s *State, seen map[string]Seen) {
			s.BootstrapAt, s.BootstrapBoot = before(5*time.Minute), "2"
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(12, "cp-a")}
		}, recovering, "wiping cp-a (it has data and no recovered etcd (it answers at revision 12)); cp-a was asked at 12:00:00 and has etcd data still"},
		{"they join", rejoining, func(_ *State, seen map[string]Seen) {
			e := etcdOf(1000, "cp-a", "cp-b")
			e.Members[1].Learner = true
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: e}
		}, rejoining, "cp-b joins etcd and is no voter yet; cp-c is to join etcd by itself"},
		{"stale", rejoining, func(_ *State, seen map[string]Seen) {
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a", "cp-b")}
			seen["cp-c"] = Seen{BootID: "2", Data: true}
		}, rejoining, "wiping cp-c (it has data of the old etcd and is no member)"},
		{"stale, wiped lately", rejoining, func(s *State, seen map[string]Seen) {
			s.Nodes[2].StaleWipeAt = before(9 * time.Minute)
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a", "cp-b")}
			seen["cp-c"] = Seen{BootID: "3", Data: true}
		}, rejoining, "cp-c was wiped again at 11:51:00: it has data of the old etcd and is no member"},
		{"nothing is left of it", rejoining, func(*State, map[string]Seen) {}, recovering,
			"no control plane has etcd data any more; cp-a gets the snapshot"},
		{"it does not answer", rejoining, func(_ *State, seen map[string]Seen) { seen["cp-a"] = Seen{BootID: "2", Data: true, Ill: "no leader"} }, rejoining,
			"the recovered etcd on cp-a does not answer: no leader"},
		{"own last", rejoining, func(s *State, seen map[string]Seen) {
			s.Own, s.AgentsSince, s.Nodes[2].BootID, s.Nodes[2].ResetAt = "cp-c", before(time.Second), "2", nil
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a", "cp-b")}
		}, rejoining, "wiping cp-c (the others have joined, and it is the last)"},
		{"own trusted", rejoining, func(s *State, seen map[string]Seen) {
			s.Own, s.AgentsSince, s.OwnWipeAt = "cp-c", before(time.Second), before(9*time.Minute)
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a", "cp-b")}
			seen["cp-c"] = Seen{BootID: "1"}
		}, rejoining, "cp-c was wiped at 11:51:00 and is to reboot and to join etcd"},
		{"own asked again", rejoining, func(s *State, seen map[string]Seen) {
			s.Own, s.AgentsSince, s.OwnWipeAt = "cp-c", before(time.Second), before(10*time.Minute)
			seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a", "cp-b")}
			seen["cp-c"] = Seen{BootID: "1"}
		}, rejoining, "wiping cp-c (it has not joined since 11:50:00)"},
	} {
		s, seen := started(tt.step), empties()
		tt.change(&s, seen)
		kept := slices.Clone(s.Nodes)
		d := Next(s, Observation{Nodes: seen}, noon, Limits{})
		if d.Note != tt.want || d.State.Step != tt.wantStep || d.State.Failure != "" {
			t.Errorf("%s: got %s, %q (%s); want %s, %q", tt.name, d.State.Step, d.Note, d.State.Failure, tt.wantStep, tt.want)
		}
		if d.Confirm != (d.State.Step == recovering && tt.step != recovering) {
			t.Errorf("%s: confirm is %t", tt.name, d.Confirm)
		}
		if fmt.Sprint(kept) != fmt.Sprint(s.Nodes) {
			t.Errorf("%s: the state that was given is changed", tt.name)
		}
	}
}

// The own node leaves before anything is wiped, and whoever serves the old etcd while
// others are wiped, too.
//
// covers: C-19
func TestOwnLeaves(t *testing.T) {
	member := []guard.Member{{ID: 9, Name: "cp-c", Started: true}}
	for _, tt := range []struct {
		name  string
		begun bool
		seen  Seen
		old   []guard.Member
		want  string
	}{
		{"a member", false, Seen{BootID: "1", Data: true}, member, "taking out of etcd cp-c (this controller runs there)"},
		{"gone from the list", false, Seen{BootID: "1", Data: true}, []guard.Member{{ID: 1, Name: "cp-a"}}, "wiping cp-a; wiping cp-b"},
		{"without data", false, Seen{BootID: "1"}, nil, "wiping cp-a; wiping cp-b"},
		{"mute", false, Seen{Mute: "refused"}, nil, "cp-c, where this controller runs, does not answer: refused"},
		{"back, and dead", true, Seen{BootID: "2", Data: true}, nil, "wiping cp-a (it has rebooted and has etcd data again); wiping cp-b (it has rebooted and has etcd data again)"},
		{"back, and alive", true, Seen{BootID: "2", Data: true, Etcd: etcdOf(12, "cp-c")}, nil, "taking out of etcd cp-c (it serves the old etcd)"},
	} {
		s := started(v1alpha1.StepWiping)
		s.Own = "cp-c"
		for i := range s.Nodes {
			if !tt.begun || i == 2 {
				s.Nodes[i].ResetAt = nil
			}
		}
		seen := map[string]Seen{"cp-a": {BootID: "2", Data: true}, "cp-b": {BootID: "2", Data: true}, "cp-c": tt.seen}
		if d := Next(s, Observation{Nodes: seen, Old: tt.old}, noon, Limits{}); d.Note != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, d.Note, tt.want)
		}
	}
}

// covers: C-11, C-20
func TestTargetAndRehome(t *testing.T) {
	s := started(v1alpha1.StepWiping)
	slices.Reverse(s.Nodes)
	for own, want := range map[string]string{"": "cp-a", "cp-a": "cp-b", "cp-c": "cp-a", "worker-0": "cp-a"} {
		if got := Target(s.Nodes, own); got != want {
			t.Errorf("own %q: got %s, want %s", own, got, want)
		}
	}
	if got := Target(s.Nodes[:1], ""); got != "" {
		t.Errorf("without a control plane: got %s", got)
	}
	s.Own = "cp-c"
	if r := s.Rehome("cp-a"); r.Own != "cp-a" || r.Target != "cp-b" {
		t.Errorf("at Wiping: got own %s, target %s", r.Own, r.Target)
	}
	if r := s.Rehome(""); r.Own != "" || r.Target != "cp-a" {
		t.Errorf("at Wiping, outside: got own %s, target %s", r.Own, r.Target)
	}
	s.Step = v1alpha1.StepRejoining
	if r := s.Rehome("cp-a"); r.Own != "cp-c" || r.Target != "cp-a" {
		t.Errorf("at Rejoining: got own %s, target %s", r.Own, r.Target)
	}
}
