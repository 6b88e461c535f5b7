package backup

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// The oldest go beyond the retention; never the newest that is proved, nor the way back
// from a restore within a week.
func TestSurplus(t *testing.T) {
	now := start
	entry := func(hours int, proved bool, undo string) Entry {
		at := now.Add(-time.Duration(hours) * time.Hour)
		m := snapshot.Meta{Name: fmt.Sprint(hours), Time: at, UndoOf: undo}
		if proved {
			m.Verified = &snapshot.Verified{}
		}
		return Entry{Meta: m}
	}
	for _, c := range []struct {
		name      string
		whole     []Entry
		retention int
		want      []string
	}{
		{"fewer than are kept", []Entry{entry(1, true, "")}, 2, nil},
		{"more", []Entry{entry(1, true, ""), entry(2, true, ""), entry(3, true, ""), entry(4, true, "")}, 2, []string{"3", "4"}},
		{"the newest proved is old", []Entry{entry(1, false, ""), entry(2, false, ""), entry(3, true, ""), entry(4, true, "")}, 1, []string{"2", "4"}},
		{"none is proved", []Entry{entry(1, false, ""), entry(2, false, "")}, 1, []string{"2"}},
		{"a way back", []Entry{entry(1, true, ""), entry(2, true, "restore-1"), entry(3, true, "")}, 1, []string{"3"}},
		{"a way back of last week", []Entry{entry(1, true, ""), entry(7*24+1, true, "restore-1")}, 1, []string{fmt.Sprint(7*24 + 1)}},
	} {
		var got []string
		for _, e := range (Catalog{Whole: c.whole}).surplus(c.retention, now) {
			got = append(got, e.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: goes %q, want %q", c.name, got, c.want)
		}
	}
}

// At most 500 are listed, the newest first.
//
// covers: C-4
func TestListIsBounded(t *testing.T) {
	var objects []store.Info
	metas := map[string]beside{}
	for n := range 600 {
		name := snapshot.SnapshotName(start.Add(time.Duration(n) * time.Minute))
		objects = append(objects, store.Info{Name: name, Size: 7})
		metas[name] = beside{meta: snapshot.Meta{Name: name, Size: 7, Namespace: "default", Cluster: "quay", Time: start.Add(time.Duration(n) * time.Minute)}}
	}
	got := arrange(owner{namespace: "default", cluster: "quay"}, objects, metas).snapshots()
	if len(got) != 500 || got[0].Name != "etcd-20300102T212900Z.snapshot.age" || !slices.IsSortedFunc(got, func(a, b v1alpha1.Snapshot) int { return b.Time.Compare(a.Time.Time) }) {
		t.Errorf("listed %d, first %s", len(got), got[0].Name)
	}
}

// What is not whole is never listed, and removed after a day; what is another cluster's,
// or a newer Quorate's, is left alone.
//
// covers: C-4, C-10
func TestWhatIsNotWhole(t *testing.T) {
	w := newWorld(t)
	w.to(12, 0)
	w.reconcile()
	const half, other, newer, sized, alone = "etcd-20300102T090000Z.snapshot.age", "etcd-20300102T091000Z.snapshot.age", "etcd-20300102T092000Z.snapshot.age", "etcd-20300102T093000Z.snapshot.age", "etcd-20300102T094000Z.snapshot.json"
	beside := func(name, cluster string, size int) string {
		return fmt.Sprintf(`{"schema":1,"name":%q,"namespace":"default","cluster":%q,"size":%d,"plainSize":1,"sum":"s","plainSum":"s"}`, name, cluster, size)
	}
	w.put(half, "half")
	w.put(other, "whole")
	w.put(metaOf(other), beside(other, "pier", 5))
	w.put(newer, "whole")
	w.put(metaOf(newer), `{"schema":9}`)
	w.put(sized, "shorter")
	w.put(metaOf(sized), beside(sized, "quay", 99))
	w.put(alone, beside("etcd-20300102T094000Z.snapshot.age", "quay", 5))
	w.put("etcd-restore.snapshot.age", "pinned")
	w.put("etcd-restore-1a2b.snapshot.age", "pinned by a restore that died")
	w.put("notes.txt", "a person's")
	w.aged()
	w.touch("etcd-restore-1a2b.snapshot.age", w.clock.Now().Add(-time.Hour))
	kept := w.files()
	w.reconcile()
	w.lists(noon)
	w.stores(kept...)
	w.clock.SetTime(start.Add(24 * time.Hour))
	w.reconcile()
	const next = "etcd-20300103T113000Z.snapshot.age"
	w.lists(next, noon)
	w.stores(other, metaOf(other), newer, metaOf(newer), noon, metaOf(noon), next, metaOf(next), "etcd-restore.snapshot.age", "notes.txt")
}

func TestNext(t *testing.T) {
	at := time.Date(2030, 1, 2, 11, 30, 0, 0, time.FixedZone("east", 5*3600))
	for schedule, want := range map[string]string{
		"5 * * * *": "2030-01-02T07:05:00Z", "@hourly": "2030-01-02T07:00:00Z", "@daily": "2030-01-03T00:00:00Z",
		"@weekly": "2030-01-06T00:00:00Z", "30 6 * * *": "2030-01-03T06:30:00Z", "0 0 29 2 *": "2032-02-29T00:00:00Z",
	} {
		got, err := next(schedule, at)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %v, %v; want %s", schedule, got, err, want)
		}
	}
}

func TestPatience(t *testing.T) {
	for failures, want := range []time.Duration{0, 1, 2, 4, 8, 16, 32, 60, 60} {
		p := patience{failures: failures, last: start}
		if failures > 0 && p.until() != start.Add(want*time.Minute) || failures == 0 && !p.until().IsZero() {
			t.Errorf("after %d failures: %v", failures, p.until().Sub(start))
		}
	}
}

// The way back from a restore is taken beside the schedule, says what it is, and does not
// put off the next one.
func TestUndo(t *testing.T) {
	w := newWorld(t)
	name, err := w.r.Undo(t.Context(), w.backup(), "rewind")
	if err != nil || name != "etcd-20300102T113000Z.snapshot.age" {
		t.Fatalf("undo: %s, %v", name, err)
	}
	w.to(12, 0)
	w.reconcile()
	w.lists(noon, name)
	if got := w.backup().Status.Snapshots; got[1].UndoOf != "rewind" || got[0].UndoOf != "" || got[1].Verified == nil {
		t.Errorf("listed: %+v", got)
	}
	w.broken["settings"] = fmt.Errorf("%w: no Secret", store.ErrSettings)
	if _, err := w.r.Undo(t.Context(), w.backup(), "rewind"); err == nil || err.Error() != "The object store cannot be used: settings of the object store: no Secret." {
		t.Errorf("without a store: %v", err)
	}
}
