package restore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
)

// second is another process with a folder of its own.
func (p *play) second(id string, ordered bool) *Job {
	d := &shelfDesk{id: id}
	p.w.store.desks = append(p.w.store.desks, d)
	proc := &process{w: p.w, calls: p.calls, id: id, cancel: func() {}}
	return &Job{Nodes: proc, Etcd: proc, Store: shop{proc}, Desk: desk{proc, d}, Decrypt: unseal, Ordered: ordered, Log: logr.Discard(), Limits: p.limits}
}

// A person's command takes the restore over at any time while a process is at work. That
// one stops before its next act: the world judges who asks. Both work by one marker.
//
// covers: C-15
func TestTwoActors(t *testing.T) {
	for after := time.Duration(0); after < 100*time.Second; after += time.Second {
		p := newPlay()
		p.limits.Poll = 3 * time.Second
		synctest.Test(t, func(t *testing.T) {
			p.begin()
			ended := make(chan Result, 1)
			go func() {
				result, err := p.second("process-0", false).Run(context.Background())
				if err != nil {
					t.Errorf("after %s: the first: %v", after, err)
				}
				ended <- result
			}()
			<-time.After(after)
			result, err := p.second("process-1", true).Run(context.Background())
			if err != nil {
				t.Errorf("after %s: the second: %v", after, err)
			}
			first := <-ended
			p.result = result
			p.check(t)
			if first.Outcome == Paused || first.Outcome == Lost && result.Marker.Fence != 2 {
				t.Errorf("after %s: the first ended %s (%s), fence %d", after, first.Outcome, first.Why, result.Marker.Fence)
			}
		})
	}
}

// A takeover between the marker's last write and the act: the owner is read once more.
func TestTakenRightBefore(t *testing.T) {
	p := newPlay()
	p.fault = fault{"store/Get/" + MarkerName + "#2", "taken"}
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		job := p.second("process-0", false)
		job.Desk = desk{job.Nodes.(*process), p.desk}
		result, err := job.Run(context.Background())
		if err != nil || result.Outcome != Lost || !p.calls.fired {
			t.Errorf("got %s (%s), %v; want Lost", result.Outcome, result.Why, err)
		}
		if got := p.journaled(); len(got) > 0 {
			t.Errorf("it asked for %q, want nothing", got)
		}
	})
}

func TestOwnedByAnother(t *testing.T) {
	p := newPlay()
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		job := p.second("process-1", false)
		result, err := job.Run(context.Background())
		if err != nil || result.Outcome != Lost || !result.Retry.Equal(p.began.Add(DefaultHold)) || len(p.w.node("cp-a").name) == 0 {
			t.Errorf("got %+v, %v; want Lost until the hold ends", result, err)
		}
		want := "the restore is not this process's any more: process-0 has it since takeover 1, until " + clockTime(result.Retry)
		if result.Why != want {
			t.Errorf("got %q, want %q", result.Why, want)
		}
		<-time.After(time.Until(result.Retry))
		p.result, err = job.Run(context.Background())
		p.check(t)
		want = "process-1 took it over from process-0 at " + clockTime(result.Retry) + ", as its hold was over"
		if err != nil || p.result.Marker.Fence != 2 || p.result.Marker.TakenOver != want {
			t.Errorf("got fence %d, %q, %v; want 2, %q", p.result.Marker.Fence, p.result.Marker.TakenOver, err, want)
		}
	})
}

// A process that is gone with its pod holds a restore up as long as its hold, and no longer:
// the margin shrinks with it.
func TestShortHold(t *testing.T) {
	const hold = 40 * time.Second
	p := newPlay()
	p.limits.Hold = hold
	p.prepare = func(_ *world, m *Marker) { m.Owner.Expires = p.began.Add(hold) }
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		job := p.second("process-1", false)
		result, err := job.Run(context.Background())
		if err != nil || result.Outcome != Lost || !result.Retry.Equal(p.began.Add(hold)) {
			t.Errorf("got %+v, %v; want Lost until the hold ends", result, err)
		}
		<-time.After(time.Until(result.Retry))
		p.result, err = job.Run(context.Background())
		if err != nil {
			t.Error(err)
		}
		p.check(t)
	})
	for hold, margin := range map[time.Duration]time.Duration{0: 3 * time.Minute, hold: 8 * time.Second} {
		if got := (Limits{Hold: hold}).filled().Margin; got != margin {
			t.Errorf("with a hold of %s the margin is %s, want %s", hold, got, margin)
		}
	}
}

// A store that is away delays nothing while the hold lasts: the folder has all.
//
// covers: C-26
func TestStoreAway(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.store.awayUntil = w.at.Add(8 * time.Minute) }
	p.run(t)
	p.check(t)
	var wiped, done time.Duration
	for _, e := range p.desk.journal {
		if e.Act == "bootstrap" {
			done = e.At.Sub(p.began)
		}
		if e.Act == "reset" && wiped == 0 {
			wiped = e.At.Sub(p.began)
		}
	}
	if wiped > time.Second || done > 2*time.Minute || done == 0 {
		t.Errorf("the first wipe came after %s and the recovery after %s, want at once and within 2m", wiped, done)
	}
	if m, err := Decode(p.w.store.objects[MarkerName].data); err != nil || !m.JobDone {
		t.Errorf("the store has %+v, %v; want it to be told in the end", m, err)
	}
}

// Past its hold a process does nothing before the store tells whose the restore is.
func TestStoreAwayPastTheHold(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, m *Marker) {
		w.store.awayUntil = w.at.Add(40 * time.Minute)
		w.node("cp-a").rebootFor = 20 * time.Minute
	}
	p.run(t)
	p.check(t)
	for _, e := range p.desk.journal {
		if at := e.At.Sub(p.began); at > 12*time.Minute && at < 40*time.Minute {
			t.Errorf("%s of %s after %s, want none past the hold while the store is away", e.Act, e.Node, at)
		}
	}
	says(t, "the notes", strings.Join(p.notes, "\n"), "nothing is done before the object store answers, as this process's hold of the restore is over at ")
}

// A folder that cannot be written is done without, as long as the store answers.
func TestBrokenFolder(t *testing.T) {
	p := newPlay()
	p.prepare = func(*world, *Marker) { p.desk.broken, p.desk.snapshot = true, nil }
	p.run(t)
	p.check(t)
	p = newPlay()
	p.prepare = func(w *world, _ *Marker) { p.desk.broken = true; w.store.awayUntil = w.at.Add(5 * time.Minute) }
	p.run(t)
	p.check(t)
	for _, e := range p.desk.journal {
		t.Errorf("journal has %+v", e)
	}
}

// A store that ignores conditions serves one process well.
func TestUnconditionalStore(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, _ *Marker) { w.store.unconditional = true }
	p.run(t)
	p.check(t)
}

// The marker is gone or newer: the restore is over, or another version's.
func TestNoMarker(t *testing.T) {
	p := newPlay()
	p.prepare = func(w *world, m *Marker) { m.Schema = Schema + 1 }
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		for _, d := range []*shelfDesk{p.desk, {id: "process-1"}} {
			job := p.second(d.id, true)
			job.Desk = desk{job.Nodes.(*process), d}
			if _, err := job.Run(context.Background()); !errors.Is(err, ErrNewerMarker) {
				t.Errorf("got %v, want ErrNewerMarker", err)
			}
		}
		p.desk.marker = nil
		if m := p.w.store.objects[MarkerName]; m.version != "2" {
			t.Errorf("the newer marker was written: version %s", m.version)
		}
		delete(p.w.store.objects, MarkerName)
		if _, err := p.second("process-1", false).Run(context.Background()); !errors.Is(err, ErrNoMarker) {
			t.Errorf("got %v, want ErrNoMarker", err)
		}
	})
	p = newPlay()
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		delete(p.w.store.objects, MarkerName)
		job := p.second("process-0", false)
		job.Desk = desk{job.Nodes.(*process), p.desk}
		result, err := job.Run(context.Background())
		if err != nil || result.Outcome != Lost || p.w.wipes > 0 {
			t.Errorf("got %+v, %v; want Lost", result, err)
		}
	})
}
