package restore

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// journaled are the acts that were asked for, as "act node".
func (p *play) journaled() (out []string) {
	for _, e := range p.desk.journal {
		if e.State == Asking {
			out = append(out, e.Act+" "+e.Node)
		}
	}
	return out
}

// says tells whether a note says all of it.
func says(t *testing.T, what, got string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			t.Errorf("%s: got %q, want %q in it", what, got, part)
		}
	}
}

// The steps in their order, and no wipe apart from the others. Volumes are judged by the
// world.
//
// covers: C-11, C-12, C-13, C-14
func TestWithoutOwn(t *testing.T) {
	p := newPlay()
	p.run(t)
	p.check(t)
	got := slices.Compact(p.journaled()) // a node that is not ready is asked again
	slices.Sort(got[:3])
	want := []string{"reset cp-a", "reset cp-b", "reset cp-c", "upload cp-a", "bootstrap cp-a", "restart-kubelet worker-0", "alarms cp-a"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var at []time.Time
	for _, e := range p.desk.journal {
		if e.Act == "reset" && e.State == Asking {
			at = append(at, e.At)
		}
	}
	if len(slices.Compact(at)) != 1 {
		t.Errorf("the wipes were asked for at %v, want all at once", at)
	}
	if m := p.result.Marker; !m.JobDone || m.RecoverSince == nil || m.Step != v1alpha1.StepRejoining || m.ExtraWipes != 0 {
		t.Errorf("got %+v", m)
	}
	is, err := Decode(p.w.store.objects[MarkerName].data)
	if err != nil || !is.JobDone {
		t.Errorf("the store has %+v, %v, want a job that is done", is, err)
	}
}

// The own node leaves first and is wiped last, by intent first; the target is the first
// by name that is not it.
//
// covers: C-11, C-19, C-20
func TestOwn(t *testing.T) {
	p := newPlay()
	p.own = "cp-a"
	p.run(t)
	p.check(t)
	var journal []string
	for _, e := range p.first.journal {
		if e.State == Asking {
			journal = append(journal, e.Act+" "+e.Node)
		}
	}
	journal = slices.Compact(journal)
	slices.Sort(journal[1:3])
	want := []string{"leave cp-a", "reset cp-b", "reset cp-c", "upload cp-b", "bootstrap cp-b", "restart-kubelet worker-0", "reset cp-a"}
	if !slices.Equal(journal, want) {
		t.Errorf("got %q, want %q", journal, want)
	}
	m := p.result.Marker
	if m.Target != "cp-b" || m.OwnWipeAt == nil || !m.OwnDone || m.Fence != 2 || m.Owner.Identity != "process-1" {
		t.Errorf("got %+v", m)
	}
	if took := p.w.at.Sub(p.began); took > 5*time.Minute {
		t.Errorf("it took %s: the process whose node is wiped gives its hold up", took)
	}
}

// A hold that is shorter than a leave lasts for it, and is given up all the same with the
// own node's wipe.
//
// covers: C-19
func TestOwnWithAShortHold(t *testing.T) {
	p := newPlay()
	p.own, p.limits.Hold, p.limits.Margin = "cp-a", 45*time.Second, 9*time.Second
	p.run(t)
	p.check(t)
	if took := p.w.at.Sub(p.began); took > 5*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// covers: C-19, C-33
func TestOwnCannotLeave(t *testing.T) {
	p := newPlay()
	p.own = "cp-a"
	p.prepare = func(w *world, _ *Marker) { // no quorum
		w.node("cp-b").data, w.node("cp-c").data = nil, nil
		w.node("cp-b").idle, w.node("cp-c").idle = true, true
	}
	p.run(t)
	if p.result.Outcome != Paused || p.w.wipes != 0 {
		t.Errorf("got %s after %d wipes, want Paused after none", p.result.Outcome, p.w.wipes)
	}
	want := "cp-a, where this controller runs, could not leave etcd within 20m0s, and nothing was wiped. " +
		"See to the cause, then go on from here with: quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://BUCKET/PREFIX " +
		"--snapshot etcd-20300102T150405Z.snapshot.age --node-endpoint 192.0.2.1 --node-endpoint 192.0.2.2 --node-endpoint 192.0.2.3"
	if p.result.Why != want {
		t.Errorf("got %q, want %q", p.result.Why, want)
	}
}

// A target whose hash did not match has data and no etcd. It is wiped again, three times
// at most.
//
// covers: C-15, C-33
func TestMismatch(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.mismatch = 2 }
	p.run(t)
	p.check(t)
	if m := p.result.Marker; m.TargetWipes != 2 || m.ExtraWipes != 2 {
		t.Errorf("got %d target and %d extra wipes, want 2 and 2", m.TargetWipes, m.ExtraWipes)
	}
	p = newPlay()
	p.prepare = func(w *world, _ *Marker) { w.mismatch = 100 }
	p.run(t)
	says(t, "a target that never recovers", string(p.result.Outcome)+" "+p.result.Why, "Paused",
		"cp-a has etcd data and no recovered etcd: etcd does not answer; its machine API says that etcd is Failed: hash mismatch, also after it was wiped again 3 times. ", "quorate restore --recover-cluster")
}

// covers: C-13, C-33, C-34
func TestNodeThatDoesNotWipe(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.node("cp-b").deaf = true }
	p.run(t)
	says(t, "a node that is asked in vain", string(p.result.Outcome)+" "+p.result.Why, "Paused",
		"etcd was not recovered within 1h0m0s. Last: ", "cp-b", "quorate restore --recover-cluster")
	var at []time.Duration
	for _, e := range p.desk.journal {
		if e.Act == "reset" && e.Node == "cp-b" && e.State == Asking {
			at = append(at, e.At.Sub(p.began).Round(time.Minute))
		}
	}
	want := []time.Duration{0, 10 * time.Minute, 20 * time.Minute, 30 * time.Minute, 40 * time.Minute, 51 * time.Minute}
	if len(at) < 5 || !slices.Equal(at[:4], want[:4]) {
		t.Errorf("cp-b was asked at %v, want each ten minutes: %v", at, want)
	}
}

// covers: C-13, C-34
func TestSilentNode(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.node("cp-c").silent = true }
	p.run(t)
	says(t, "a silent node", string(p.result.Outcome)+" "+p.result.Why, "Paused", "etcd was not recovered within 1h0m0s. Last: cp-c does not answer")
}

// A node that is silent after the recovery holds the restore up to the second limit.
//
// covers: C-18, C-33, C-34
func TestSilentLater(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, m *Marker) {
		w.recovered("cp-a")
		w.node("cp-b").data, w.node("cp-b").joinAt = nil, w.at
		w.node("cp-c").silent = true
		m.Step = v1alpha1.StepRejoining
	}
	p.run(t)
	says(t, "silent after the recovery", string(p.result.Outcome)+" "+p.result.Why, "Paused",
		"The restore was not over within 2h30m0s. Last: cp-c does not answer, as one that reboots", "quorate restore --recover-cluster")
	if took := p.w.at.Sub(p.began); took < 150*time.Minute || took > 152*time.Minute {
		t.Errorf("it took %s", took)
	}
}

// A node that reboots between the look and the act is not asked: what was seen is of
// another boot.
func TestRebootBeforeAct(t *testing.T) {
	p := newPlay()
	p.fault = fault{"cp-b/BootID#3", "boot:cp-b"}
	p.run(t)
	p.check(t)
	says(t, "the notes", strings.Join(p.notes, "\n"), "reset of cp-b failed: not asked: it has rebooted since it was looked at")
	for _, e := range p.desk.journal {
		if e.Act == "reset" && e.Node == "cp-b" && e.At.Equal(p.began) {
			t.Errorf("cp-b was asked to wipe in another boot than the one that was seen: %+v", e)
		}
	}
}
