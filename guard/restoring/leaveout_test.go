package restoring

import (
	"errors"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Who is left out, which one becomes the target, and what is refused.
//
// covers: C-41
func TestLeaveOut(t *testing.T) {
	const all = "The restore is about cp-a (192.0.2.1), cp-b (192.0.2.2), cp-c (192.0.2.3), worker-0 (192.0.2.9)"
	for _, tt := range []struct {
		names  []string
		left   int
		target string
		want   string
	}{
		{nil, 0, "cp-a", ""},
		{[]string{"cp-c"}, 1, "cp-a", ""},
		{[]string{"192.0.2.3"}, 1, "cp-a", ""},
		{[]string{"192.0.2.3:50000"}, 1, "cp-a", ""},
		{[]string{"cp-c", "192.0.2.3"}, 1, "cp-a", ""},
		{[]string{"cp-a"}, 1, "cp-b", ""},
		{[]string{"cp-a", "cp-b"}, 2, "cp-c", ""},
		{[]string{"cp-a", "cp-b", "cp-c"}, 2, "cp-c", "it cannot be done without: cp-c is the last control plane, and etcd has to be recovered on one"},
		{[]string{"cp-x"}, 0, "cp-a", "it cannot be done without: nobody knows a machine cp-x. " + all},
		{[]string{""}, 0, "cp-a", "it cannot be done without: nobody knows a machine . " + all},
		{[]string{"worker-0"}, 0, "cp-a", "it cannot be done without: worker-0 is a worker, which has no etcd. It is waited for a few minutes at most"},
	} {
		s := started(v1alpha1.StepRecovering)
		s.BootstrapAt, s.UploadBoot, s.Nodes[2].MemberID = before(time.Minute), "2", 7
		got, err := s.LeaveOut(tt.names, noon)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if text != tt.want || (err != nil) != errors.Is(err, ErrLeaveOut) || len(got.LeftOut) != tt.left || got.Target != tt.target || len(got.Nodes) != 4-tt.left || len(s.Nodes) != 4 {
			t.Errorf("%q: got %+v, target %s, %q; want %d left out, target %s, %q", tt.names, got.LeftOut, got.Target, text, tt.left, tt.target, tt.want)
		}
		if begun := got.BootstrapAt != nil && got.UploadBoot != ""; begun != (got.Target == "cp-a") {
			t.Errorf("%q: the request to recover stands: %t", tt.names, begun)
		}
		if err == nil && got.LeftOutAt != nil {
			t.Errorf("%q: left out while the others rejoin, before they do", tt.names)
		}
	}
	s := started(v1alpha1.StepWiping)
	s.Nodes[1].Address = "192.0.2.1:50001"
	if _, err := s.LeaveOut([]string{"192.0.2.1"}, noon); err != nil {
		t.Errorf("an address that is one node's and another one's but for the port: %v", err)
	}
	s.Nodes[0].Address = "192.0.2.1:50002"
	if _, err := s.LeaveOut([]string{"192.0.2.1"}, noon); !errors.Is(err, ErrLeaveOut) {
		t.Errorf("an address of two: got %v", err)
	}
}

// The own one may go too, and be the only one that stays.
func TestLeaveOutOwn(t *testing.T) {
	s := started(v1alpha1.StepRejoining)
	s.Own, s.OwnWipeAt = "cp-c", before(time.Minute)
	got, err := s.LeaveOut([]string{"cp-c"}, noon)
	if err != nil || got.Own != "" || got.OwnWipeAt != nil || got.LeftOutAt == nil {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err = s.LeaveOut([]string{"cp-a", "cp-b"}, noon)
	if err != nil || got.Own != "" || got.Target != "cp-c" {
		t.Errorf("got own %q, target %q, %v", got.Own, got.Target, err)
	}
}

// What was left out is neither waited for nor wiped; a member that it still is, is told of.
//
// covers: C-41
func TestWithout(t *testing.T) {
	leave := func(step v1alpha1.RestoreStep, names ...string) State {
		s, err := started(step).LeaveOut(names, noon.Add(-time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		s.Nodes[len(s.Nodes)-1].AgentAt = before(time.Minute) // the worker's
		s.AgentsSince, s.AlarmsAt = before(time.Minute), before(time.Minute)
		return s
	}
	seen := empties()
	seen["cp-c"] = Seen{Mute: "refused"}
	if d := Next(leave(v1alpha1.StepWiping, "cp-c"), Observation{Nodes: seen}, noon, Limits{}); d.State.Step != v1alpha1.StepRecovering {
		t.Errorf("at Wiping: got %s, %q", d.State.Step, d.Note)
	}
	seen = empties()
	seen["cp-a"] = Seen{BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-a", "cp-b", "cp-c")}
	d := Next(leave(v1alpha1.StepRejoining, "cp-c"), Observation{Nodes: seen}, noon, Limits{})
	want := "cp-c was left out and is member 0000000000000003 of the recovered etcd still: where it keeps others from joining, remove it (talosctl -n 192.0.2.1 etcd remove-member 0000000000000003); etcd is recovered and every control plane has joined it"
	if !d.State.Done || d.Note != want || d.State.LeftOut[0].MemberID != 3 || d.State.LeftOutAt != nil {
		t.Errorf("at Rejoining: got %t, %q, %+v; want %q", d.State.Done, d.Note, d.State.LeftOut, want)
	}
}

// An etcd that was recovered on a machine that is left out is given up only when none of
// the others has it, for a while, and each of them says so.
//
// covers: C-41
func TestForsaken(t *testing.T) {
	stuck := Seen{BootID: "2", Data: true, Ill: "no leader", Service: &Service{State: "Running"}}
	for _, tt := range []struct {
		name string
		ago  time.Duration
		seen map[string]Seen
		step v1alpha1.RestoreStep
		want string
	}{
		{"at once", time.Minute, map[string]Seen{"cp-b": stuck, "cp-c": {BootID: "2"}}, v1alpha1.StepRejoining, "the recovered etcd on cp-b does not answer: no leader; its machine API says that etcd is Running"},
		{"after a while", 5 * time.Minute, map[string]Seen{"cp-b": stuck, "cp-c": {BootID: "2"}}, v1alpha1.StepWiping,
			"the etcd that was recovered has no quorum without what was left out; it is recovered again on cp-b"},
		{"one does not answer", 5 * time.Minute, map[string]Seen{"cp-b": stuck, "cp-c": {Mute: "refused"}}, v1alpha1.StepRejoining, "the recovered etcd on cp-b does not answer: no leader; its machine API says that etcd is Running"},
		{"it lives", 5 * time.Minute, map[string]Seen{"cp-b": {BootID: "2", Data: true, Etcd: etcdOf(1000, "cp-b")}, "cp-c": {BootID: "2"}}, v1alpha1.StepRejoining, "cp-c is to join etcd by itself"},
	} {
		s, err := started(v1alpha1.StepRejoining).LeaveOut([]string{"cp-a"}, noon.Add(-tt.ago))
		if err != nil {
			t.Fatal(err)
		}
		s.OwnDone = true
		d := Next(s, Observation{Nodes: tt.seen}, noon, Limits{})
		if d.State.Step != tt.step || d.Note != tt.want || tt.step == v1alpha1.StepWiping && (!d.Confirm || d.State.OwnDone) {
			t.Errorf("%s: got %s, %q; want %s, %q", tt.name, d.State.Step, d.Note, tt.step, tt.want)
		}
	}
}

// A limit that is over because of a machine that does not answer names the way out.
//
// covers: C-33
func TestOverdueNamesTheMute(t *testing.T) {
	s, seen := started(v1alpha1.StepWiping), empties()
	s.Since, seen["cp-c"] = noon.Add(-2*time.Hour), Seen{Mute: "refused"}
	want := "etcd was not recovered within 1h0m0s. Last: cp-c does not answer, as one that reboots: refused. What is off for good, and stays off, is left out with --without cp-c, given to the command."
	if d := Next(s, Observation{Nodes: seen}, noon, Limits{}); d.State.Failure != want {
		t.Errorf("got  %q\nwant %q", d.State.Failure, want)
	}
}

func TestLeftOutText(t *testing.T) {
	left := []Node{{Machine: "cp-c", Address: "192.0.2.3:50000", BootID: "1", Volumes: []string{"ETCD"}, MemberID: 0x1a}}
	want := "cp-c (192.0.2.3:50000) is left out: it must be off, and stay off until it is wiped. What its disk has of etcd is of another lineage, and with it the machine would serve what is no more, or vote for it. " +
		"To have it back, start it cut off from the others and wipe it: talosctl -n 192.0.2.3 reset --graceful=false --reboot --system-labels-to-wipe EPHEMERAL,ETCD; or install it anew. Then it joins by itself. " +
		"It is a member of the recovered etcd still: remove it, by deleting its TalosMachine once the API answers, or now: talosctl -n 192.0.2.1 etcd remove-member 000000000000001a."
	if got := LeftOutText(left, "192.0.2.1"); len(got) != 1 || got[0] != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
