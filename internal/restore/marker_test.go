package restore

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/quorate/quorate/internal/store"
)

// An earlier form has a reason, which is passed over, and no limits of its own.
//
// covers: C-36
func TestDecode(t *testing.T) {
	older := `{"schema":1,"reason":"because","cluster":"prod","step":"Wiping","startedAt":"2030-01-02T15:04:05Z",
		"nodes":[{"machine":"cp-a","address":"192.0.2.1","role":"controlplane"}],"target":"cp-a","pinned":{"floor":1}}`
	m, err := Decode([]byte(older))
	if err != nil || m.Cluster != "prod" || !m.LimitsFrom.Equal(m.StartedAt) {
		t.Errorf("got %+v, %v", m, err)
	}
	data, err := m.Encode()
	if err != nil || strings.Contains(string(data), "reason\": \"because") {
		t.Errorf("got %s, %v", data, err)
	}
	for _, tt := range []struct {
		name, data string
		want       error
		text       string
	}{
		{"newer", `{"schema":3,"quorate":"v9","nodes":"in another form"}`, ErrNewerMarker,
			"the marker is of a newer Quorate: it has schema 3, written by a later version, and this version knows schema 2; let that version finish the restore"},
		{"newer, the same form", `{"schema":3,"quorate":"v9"}`, ErrNewerMarker,
			"the marker is of a newer Quorate: it has schema 3, written by v9, and this version knows schema 2; let that version finish the restore"},
		{"no JSON", `{`, ErrMarker, "the marker of the restore cannot be read: unexpected end of JSON input"},
		{"empty", `{}`, ErrMarker, "the marker of the restore cannot be read: schema or cluster is missing"},
		{"no step", strings.Replace(older, "Wiping", "Waiting", 1), ErrMarker, `the marker of the restore cannot be read: "Waiting" is no step`},
		{"no target", strings.Replace(older, `"target":"cp-a"`, `"target":"cp-x"`, 1), ErrMarker, `the marker of the restore cannot be read: the target "cp-x" is not among its nodes`},
		{"a backup as its copy", strings.Replace(older, `"floor":1`, `"floor":1,"name":"etcd-20300102T150405Z.snapshot.age"`, 1), ErrMarker, `the marker of the restore cannot be read: "etcd-20300102T150405Z.snapshot.age" is not the name of a restore's copy`},
		{"no floor", strings.Replace(older, `"floor":1`, `"floor":0`, 1), ErrMarker, "the marker of the restore cannot be read: it says no revision that only the recovered etcd has"},
	} {
		if _, err := Decode([]byte(tt.data)); !errors.Is(err, tt.want) || err.Error() != tt.text {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.text)
		}
	}
}

// Of two that read the same marker, one saves it.
func TestMarkers(t *testing.T) {
	s, err := store.NewFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all, ctx := Markers{s}, context.Background()
	if _, _, err := all.Load(ctx); !errors.Is(err, ErrNoMarker) {
		t.Errorf("got %v, want ErrNoMarker", err)
	}
	m := &Marker{Cluster: "prod", Step: "Wiping", Nodes: []Node{{Machine: "cp-a"}}, Target: "cp-a", Pinned: Pinned{Floor: 1}}
	if _, err := all.Create(ctx, m); err != nil {
		t.Fatal(err)
	}
	if _, err := all.Create(ctx, m); !errors.Is(err, store.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	a, version, err := all.Load(ctx)
	if err != nil || a.Sequence != 1 {
		t.Fatalf("got %+v, %v", a, err)
	}
	b, stale, err := all.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	a.Owner.Identity, a.Schema = "a", 1
	if version, err = all.Save(ctx, a, version); err != nil {
		t.Fatal(err)
	}
	if is, _, err := all.Load(ctx); err != nil || is.Schema != Schema {
		t.Errorf("got %+v, %v; want the form of the version that saved it", is, err)
	}
	b.Owner.Identity = "b"
	if _, err = all.Save(ctx, b, stale); !errors.Is(err, store.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	if err := all.Delete(ctx, stale); !errors.Is(err, store.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
	if err := errors.Join(all.Delete(ctx, version), all.Delete(ctx, version)); err != nil {
		t.Error(err)
	}
}

// A write whose fsync fails is an error, and leaves what was there.
func TestFolder(t *testing.T) {
	dir, keys := t.TempDir(), t.TempDir()
	f, err := OpenFolder(dir, keys)
	if err != nil {
		t.Fatal(err)
	}
	id, err := f.Identity()
	again, err2 := f.Identity()
	if err != nil || err2 != nil || id == "" || id != again {
		t.Errorf("got %q and %q, %v, %v", id, again, err, err2)
	}
	if _, err := f.Marker(); !errors.Is(err, ErrNoMarker) {
		t.Errorf("got %v, want ErrNoMarker", err)
	}
	m := &Marker{Schema: 1, Cluster: "prod", Step: "Wiping", Nodes: []Node{{Machine: "cp-a"}}, Target: "cp-a", Pinned: Pinned{Floor: 1}}
	err = errors.Join(f.SaveMarker(m), f.Write(Entry{Act: "reset"}), f.Stage(strings.NewReader("plain")), f.PutKey("bundle", []byte("secret")))
	if err != nil {
		t.Fatal(err)
	}
	f.sync = func(*os.File) error { return errDisk }
	m.Cluster = "other"
	for name, err := range map[string]error{"marker": f.SaveMarker(m), "journal": f.Write(Entry{}), "snapshot": f.Stage(strings.NewReader("x"))} {
		if !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v, want the error of the disk", name, err)
		}
	}
	if is, err := f.Marker(); err != nil || is.Cluster != "prod" {
		t.Errorf("got %+v, %v; want the one before", is, err)
	}
	f.sync = (*os.File).Sync
	if key, err := f.Key("bundle"); err != nil || string(key) != "secret" {
		t.Errorf("got %q, %v", key, err)
	}
	if err := f.Erase(); err != nil {
		t.Error(err)
	}
	for _, d := range []string{dir, keys} {
		if left, err := os.ReadDir(d); err != nil || len(left) > 0 {
			t.Errorf("%v is left, %v", left, err)
		}
	}
}

// Each restore has a copy of its own, which is no snapshot; older ones share one.
//
// covers: C-10
func TestPinnedNames(t *testing.T) {
	a, b := NewPinnedName(), NewPinnedName()
	if a == b || !IsPinned(a) || !IsPinned(b) || !IsPinned(PinnedName) || (Pinned{}).Object() != "etcd-restore.snapshot.age" || (Pinned{Name: a}).Object() != a {
		t.Errorf("got %s and %s", a, b)
	}
	for _, name := range []string{MarkerName, "etcd-20300102T150405Z.snapshot.age", "etcd-20300102T150405Z.snapshot.json", "notes.snapshot.age", ""} {
		if IsPinned(name) {
			t.Errorf("%q is taken for a copy", name)
		}
	}
}
