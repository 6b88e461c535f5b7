package restore

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// bad is an etcd that makes the job panic.
type bad struct{ p *process }

func (b bad) Probe(context.Context, string) (Probe, error) { panic("index out of range") }

// A panic, also in one of the questions asked at once, is a final failure in the marker;
// nothing is tried again before a person says so.
//
// covers: C-32, C-33, C-34
func TestPanic(t *testing.T) {
	p := newPlay()
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		job := p.second("process-0", false)
		job.Etcd = bad{}
		result, err := job.Run(context.Background())
		if err != nil || result.Outcome != Paused {
			t.Fatalf("got %s, %v; want Paused", result.Outcome, err)
		}
		says(t, "a panic", result.Why, "The job of the restore panicked: index out of range. ", "quorate restore --recover-cluster")
		m, err := Decode(p.w.store.objects[MarkerName].data)
		if err != nil || m.Failure != result.Why {
			t.Errorf("the store has %q, %v; want %q", m.Failure, err, result.Why)
		}
		asked := p.calls.count["cp-a/BootID"]
		again, err := p.second("process-0", false).Run(context.Background())
		if err != nil || again.Outcome != Paused || again.Why != result.Why || p.calls.count["cp-a/BootID"] != asked {
			t.Errorf("got %+v, %v; want the same without a question to a node", again, err)
		}
		p.result, err = p.second("process-1", true).Run(context.Background())
		if err != nil {
			t.Error(err)
		}
		p.check(t)
	})
}

// Limits count from when a person had it go on.
func TestOrderedAfterLimit(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, m *Marker) {
		m.LimitsFrom = m.StartedAt.Add(-2 * time.Hour)
		m.Failure = "etcd was not recovered within 1h0m0s."
	}
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		var err error
		if p.result, err = p.second("process-1", true).Run(context.Background()); err != nil {
			t.Error(err)
		}
		p.check(t)
	})
}

// The last note is in the marker, and not at each change of it.
//
// covers: C-32
func TestNotes(t *testing.T) {
	p := newPlay()
	p.limits.Poll = time.Second
	seen := map[string]bool{}
	p.prepare = func(w *world, _ *Marker) {
		w.node("cp-b").resetAfter = 45 * time.Second
		w.store.onPut = func(name string, data []byte) {
			if m, err := Decode(data); name == MarkerName && err == nil {
				seen[m.LastNote] = true
			}
		}
	}
	p.run(t)
	p.check(t)
	if writes := p.calls.count["store/Replace/"+MarkerName]; writes > 40 {
		t.Errorf("%d writes of the marker in %s, want few", writes, p.w.at.Sub(p.began))
	}
	found := false
	for note := range seen {
		found = found || len(note) > 5 && note[:5] == "cp-a " || note == ""
	}
	if !found || len(seen) < 6 {
		t.Errorf("the store saw the notes %v", seen)
	}
}

func TestAlarms(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.alarms = []string{"NOSPACE", "NOSPACE"} }
	p.run(t)
	p.check(t)
	if want := "The alarms of the snapshot are back: NOSPACE. See to their cause and disarm them."; p.result.Marker.Alarms != want {
		t.Errorf("got %q, want %q", p.result.Marker.Alarms, want)
	}
}

// A kubelet that cannot be restarted ends as a warning.
func TestKubelet(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.node("worker-0").silent = true }
	p.run(t)
	want := "The kubelet of worker-0 could not be restarted within 10m0s: restart it, as it may hold what was before the restore."
	if p.result.Outcome != Done || p.result.Marker.AgentWarning != want {
		t.Errorf("got %s, %q; want Done, %q", p.result.Outcome, p.result.Marker.AgentWarning, want)
	}
}

// Nothing is wiped if the snapshot is not what was pinned; the folder's copy is the
// spare one of the store's, and the reverse.
//
// covers: C-14, C-33
func TestDamagedSnapshot(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) {
		p.desk.snapshot = []byte("the resealed snapshot of the clusteR")
		w.store.put(PinnedName, []byte("sealed:something else"))
	}
	p.run(t)
	says(t, "a damaged snapshot", string(p.result.Outcome)+" "+p.result.Why, "Paused", "the pinned snapshot is damaged", "quorate restore --recover-cluster")
	if p.w.wipes > 0 || len(p.journaled()) > 0 {
		t.Errorf("%d wipes, %q; want none", p.w.wipes, p.journaled())
	}
	p = newPlay()
	p.prepare = func(*world, *Marker) { p.desk.snapshot = []byte("cut") }
	p.run(t)
	p.check(t)
	p = newPlay()
	p.prepare = func(w *world, _ *Marker) { delete(w.store.objects, PinnedName) }
	p.run(t)
	p.check(t)
}

// A control plane with data of the old etcd that is no member is wiped at a limited rate,
// which the marker keeps over restarts.
//
// covers: C-18
func TestStale(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, m *Marker) {
		w.recovered("cp-a")
		w.node("cp-b").data, w.node("cp-b").joinAt = nil, w.at
		w.node("cp-c").resetAfter = 25 * time.Minute
		m.Step = v1alpha1.StepRejoining
	}
	p.run(t)
	p.check(t)
	var at []time.Duration
	for _, e := range p.desk.journal {
		if e.Act == "reset" && e.State == Asking {
			at = append(at, e.At.Sub(p.began).Round(time.Minute))
		}
	}
	if len(at) != 3 || at[0] != 0 || at[1] != 10*time.Minute || at[2] != 20*time.Minute {
		t.Errorf("it was wiped at %v, want each ten minutes until it acts", at)
	}
}

// A state that is too old harms nothing: a recovered etcd is known by itself, whatever
// the marker says, and not uploaded to again.
//
// covers: C-15
func TestOldState(t *testing.T) {
	p := newPlay()
	p.run(t)
	p.check(t)
	synctest.Test(t, func(t *testing.T) {
		q := newPlay()
		q.begin()
		for i, n := range p.w.nodes {
			*q.w.nodes[i] = *n
			q.w.nodes[i].upAt = time.Now().Add(-time.Hour)
		}
		l := p.w.lineages[len(p.w.lineages)-1]
		for _, m := range l.members {
			m.node = q.w.node(m.node.name)
		}
		q.w.lineages = []*lineage{l}
		var err error
		job := q.second("process-0", false)
		if q.result, err = job.Run(context.Background()); err != nil {
			t.Error(err)
		}
		q.check(t)
		if q.w.wipes > 0 || q.calls.count["cp-a/Recover"] > 0 {
			t.Errorf("%d wipes and %d uploads, want none", q.w.wipes, q.calls.count["cp-a/Recover"])
		}
	})
}
