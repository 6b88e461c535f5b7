package running

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

var access = Access{Bundle: []byte("bundle"), Store: store.Options{Bucket: "backups"}}

// A job runs once, tells what it does, and stops with the process; the next process goes
// on with it from the folder, as the same owner, and asks nobody for its keys.
//
// covers: C-26
func TestJobIsResumed(t *testing.T) {
	w := newWorld(t)
	p := w.begins("first", "")
	m := w.orders(p)
	for range 2 {
		if err := p.Start(quay, access, m); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the wipe", func() bool { return len(w.wiped()) > 0 })
	until(t, "a note", func() bool { s, _ := p.State(quay); return s.Progress.Note != "" })
	if s, known := p.State(quay); !known || !s.Running || !p.Running() || len(p.opened) != 1 {
		t.Errorf("known %t, %+v, %d opened", known, s, len(p.opened))
	}
	p.Stop()
	if s, _ := p.State(quay); s.Running || p.Running() || !slices.Equal(p.changes, []bool{true, false}) {
		t.Errorf("after the stop: %+v, changes %v", s, p.changes)
	}
	if err := p.Start(quay, access, m); !errors.Is(err, errStopped) {
		t.Errorf("a process that ends starts another job: %v", err)
	}
	next := w.begins("second", p.dir)
	next.Resume()
	next.Resume()
	until(t, "the job to go on", func() bool { s, _ := next.State(quay); return s.Progress.Note != "" })
	if len(next.opened) != 1 || string(next.opened[0].Bundle) != "bundle" || next.opened[0].Store.Bucket != "backups" {
		t.Errorf("opened with %+v", next.opened)
	}
	is, _, err := (restore.Markers{Store: w.at}).Load(t.Context())
	if err != nil || is.Owner.Identity != m.Owner.Identity || is.Fence != 1 {
		t.Errorf("the owner is %+v (fence %d), %v; want %s still", is.Owner, is.Fence, err, m.Owner.Identity)
	}
	if got := w.wiped(); len(got) != 1 {
		t.Errorf("wipes were asked for by %q, want one, as ten minutes have not passed", got)
	}
}

// Two processes with the marker of one restore do not both act: the one that does not own
// it does nothing, says whose it is, and keeps no key.
//
// covers: C-15
func TestTwoProcesses(t *testing.T) {
	w := newWorld(t)
	first := w.begins("first", "")
	m := w.orders(first)
	second := w.begins("second", "")
	if err := errors.Join(first.Start(quay, access, m), second.Start(quay, access, m)); err != nil {
		t.Fatal(err)
	}
	until(t, "the second to give way", func() bool { s, _ := second.State(quay); return !s.Running })
	until(t, "the wipe", func() bool { return len(w.wiped()) > 0 })
	s, _ := second.State(quay)
	if s.Err != nil || s.Result.Outcome != restore.Lost || time.Until(s.Result.Retry) < 10*time.Minute {
		t.Errorf("the second ended with %+v, %v; want Lost until the hold ends", s.Result, s.Err)
	}
	if got := w.wiped(); !slices.Equal(got, []string{"first"}) {
		t.Errorf("wipes were asked for by %q, want the first alone", got)
	}
	if left := second.plain(t); len(left) > 0 {
		t.Errorf("the second keeps %q", left)
	}
	if state, _ := first.State(quay); !state.Running {
		t.Errorf("the first ended: %+v", state)
	}
}

// The folder of a restore that another process took over, or that is over, is erased at
// the end of the job, and where a process begins with such a one; but never the last copy
// of the snapshot.
//
// covers: C-10
func TestFolderOfALostRestoreIsErased(t *testing.T) {
	for _, c := range []struct {
		label string
		lose  func(w *world, m *restore.Marker)
		stays bool
	}{
		{"taken over", func(w *world, m *restore.Marker) { w.taken() }, false},
		{"over, and the backup is there", func(w *world, _ *restore.Marker) { w.gone(restore.MarkerName, restore.PinnedName); w.puts(shot) }, false},
		{"over, and etcd is the recovered one", func(w *world, _ *restore.Marker) {
			w.gone(restore.MarkerName, restore.PinnedName)
			w.revision = floor
		}, false},
		{"a store that has lost everything", func(w *world, _ *restore.Marker) {
			w.gone(restore.MarkerName, restore.PinnedName)
			w.revision = floor - 1
		}, true},
	} {
		w := newWorld(t)
		p := w.begins("first", "")
		m := w.orders(p)
		if err := p.Start(quay, access, m); err != nil {
			t.Fatal(err)
		}
		until(t, "the wipe", func() bool { return len(w.wiped()) > 0 })
		p.Stop() // as it is killed
		c.lose(w, m)
		next := w.begins("second", p.dir)
		next.Resume()
		until(t, c.label+": the job to end", func() bool { s, known := next.State(quay); return known && !s.Running })
		if s, _ := next.State(quay); s.Result.Outcome != restore.Lost || s.Err != nil {
			t.Errorf("%s: %+v, %v", c.label, s.Result, s.Err)
		}
		if left := next.plain(t); slices.Contains(left, "snapshot.db") != c.stays || slices.Contains(left, "bundle") != c.stays {
			t.Errorf("%s: left are %q; want them to stay: %t", c.label, left, c.stays)
		}
	}
}

// taken has another process own the restore.
func (w *world) taken() {
	w.t.Helper()
	markers := restore.Markers{Store: w.at}
	m, version, err := markers.Load(w.t.Context())
	if err == nil {
		m.Fence, m.Owner = 2, restore.Owner{Identity: "another", Expires: time.Now().Add(time.Hour)}
		_, err = markers.Save(w.t.Context(), m, version)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) gone(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := w.at.Delete(w.t.Context(), name); err != nil {
			w.t.Fatal(err)
		}
	}
}

// End stops the job and erases its folder, and only its own.
func TestEnd(t *testing.T) {
	w := newWorld(t)
	p := w.begins("first", "")
	if err := p.Start(quay, access, w.orders(p)); err != nil {
		t.Fatal(err)
	}
	until(t, "the wipe", func() bool { return len(w.wiped()) > 0 })
	if err := p.End(t.Context(), quay); err != nil {
		t.Fatal(err)
	}
	if left := p.plain(t); len(left) > 0 || p.Running() {
		t.Errorf("left are %q, and a job runs: %t", left, p.Running())
	}
	if _, known := p.State(quay); known {
		t.Error("the job is known still")
	}
}

// What was staged by a process that was killed before there was a marker is erased.
func TestStagedWithoutMarker(t *testing.T) {
	w := newWorld(t)
	p := w.begins("first", "")
	folder, err := p.Folder(quay)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Identity(); err != nil {
		t.Fatal(err)
	}
	if err := folder.PutKey("bundle", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	next := w.begins("second", p.dir)
	next.Resume()
	if left := next.plain(t); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
	if _, known := next.State(quay); known {
		t.Error("a job runs for nothing")
	}
}
