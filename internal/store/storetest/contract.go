package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/internal/store"
)

// Contract holds a store to what store.Store says. open gives one that is empty; it is
// called once a case.
func Contract(t *testing.T, open func(*testing.T) store.Store) {
	for _, c := range []struct {
		name string
		test func(*testing.T, store.Store)
	}{
		{"an object that is absent", absent},
		{"what is put can be read", puts},
		{"what breaks off leaves nothing", breaksOff},
		{"one that is created is not created again", creates},
		{"one that has changed is not replaced", replaces},
		{"one that has changed is not removed", removes},
		{"objects are listed by name", lists},
		{"a name is one in every store", names},
		{"a call ends with its context", ends},
		{"conditions hold", probes},
		{"of ten that create one wins", racesToCreate},
		{"of ten that replace one wins", racesToReplace},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

func absent(t *testing.T, s store.Store) {
	ctx := t.Context()
	_, _, err := s.Get(ctx, "a")
	want(t, "get", err, store.ErrNotFound)
	_, err = s.Stat(ctx, "a")
	want(t, "stat", err, store.ErrNotFound)
	_, err = s.Replace(ctx, "a", []byte("x"), "v")
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrChanged) {
		t.Errorf("replace: %v", err)
	}
	want(t, "remove", s.Remove(ctx, "a", "v"), nil)
	want(t, "delete", s.Delete(ctx, "a"), nil)
}

func puts(t *testing.T, s store.Store) {
	for _, size := range []int{0, 1, 1 << 20, 8<<20 - 1, 8 << 20, 8<<20 + 1, 20 << 20} {
		content := pattern(size)
		// A reader that tells no length, and cannot go back.
		info, err := s.Put(t.Context(), "a", io.MultiReader(bytes.NewReader(content)))
		if err != nil || info.Name != "a" || info.Size != int64(size) || info.Version == "" {
			t.Fatalf("put %d bytes: %+v, %v", size, info, err)
		}
		stat, err := s.Stat(t.Context(), "a")
		if err != nil || stat.Size != info.Size || stat.Version != info.Version || stat.Modified.IsZero() {
			t.Errorf("stat: %+v, %v; put said %+v", stat, err, info)
		}
		r, got, err := s.Get(t.Context(), "a")
		if err != nil || got.Size != info.Size || got.Version != info.Version {
			t.Fatalf("get: %+v, %v", got, err)
		}
		read, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(read, content) {
			t.Errorf("read %d of %d bytes: %v", len(read), size, err)
		}
	}
}

// pattern repeats at no power of two, so that parts in another order are seen.
func pattern(size int) []byte {
	out := make([]byte, size)
	for i := range out {
		out[i] = byte(i % 251)
	}
	return out
}

var errBroken = errors.New("broken")

// broken fails after so many bytes.
type broken struct{ left int }

func (b *broken) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errBroken
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func breaksOff(t *testing.T, s store.Store) {
	for _, after := range []int{0, 100, 20 << 20} {
		_, err := s.Put(t.Context(), "a", &broken{left: after})
		want(t, fmt.Sprintf("put that breaks off after %d bytes", after), err, errBroken)
		_, err = s.Stat(t.Context(), "a")
		want(t, "stat", err, store.ErrNotFound)
	}
	put(t, s, "a", "whole")
	_, err := s.Put(t.Context(), "a", &broken{left: 20 << 20})
	want(t, "put over another", err, errBroken)
	if got := read(t, s, "a"); got != "whole" {
		t.Errorf("the old content is %.20q", got)
	}
}

func creates(t *testing.T, s store.Store) {
	v, err := s.Create(t.Context(), "a", []byte("one"))
	if err != nil || v == "" {
		t.Fatalf("create: %q, %v", v, err)
	}
	_, err = s.Create(t.Context(), "a", []byte("two"))
	want(t, "create again", err, store.ErrExists)
	data, got, err := store.ReadSmall(t.Context(), s, "a")
	if err != nil || string(data) != "one" || got != v {
		t.Errorf("read %q at %s, %v; created at %s", data, got, err, v)
	}
	if _, err = s.Create(t.Context(), "b", make([]byte, store.MaxSmall+1)); err == nil {
		t.Error("create: a large object was taken")
	}
}

func replaces(t *testing.T, s store.Store) {
	first, err := s.Create(t.Context(), "a", []byte("one"))
	want(t, "create", err, nil)
	second, err := s.Replace(t.Context(), "a", []byte("two"), first)
	want(t, "replace", err, nil)
	if first == second {
		t.Errorf("both versions are %s", first)
	}
	_, err = s.Replace(t.Context(), "a", []byte("three"), first)
	want(t, "replace by the old version", err, store.ErrChanged)
	if got := read(t, s, "a"); got != "two" {
		t.Errorf("the content is %q", got)
	}
	_, err = s.Replace(t.Context(), "a", []byte("three"), second)
	want(t, "replace by the new version", err, nil)
}

func removes(t *testing.T, s store.Store) {
	first, err := s.Create(t.Context(), "a", []byte("one"))
	want(t, "create", err, nil)
	second, err := s.Replace(t.Context(), "a", []byte("two"), first)
	want(t, "replace", err, nil)
	want(t, "remove by the old version", s.Remove(t.Context(), "a", first), store.ErrChanged)
	want(t, "remove", s.Remove(t.Context(), "a", second), nil)
	_, err = s.Stat(t.Context(), "a")
	want(t, "stat", err, store.ErrNotFound)
	want(t, "remove again", s.Remove(t.Context(), "a", second), nil)
}

func lists(t *testing.T, s store.Store) {
	for _, name := range []string{"b-2", "a", "b-1", "c"} {
		put(t, s, name, "content of "+name)
	}
	for prefix, want := range map[string][]string{"": {"a", "b-1", "b-2", "c"}, "b-": {"b-1", "b-2"}, "x": nil} {
		var got []string
		for info, err := range s.List(t.Context(), prefix) {
			stat, statErr := s.Stat(t.Context(), info.Name)
			if err := errors.Join(err, statErr); err != nil || info.Size != stat.Size || info.Version != stat.Version || info.Modified.IsZero() {
				t.Errorf("listed %+v, and is %+v: %v", info, stat, err)
			}
			got = append(got, info.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("listed by %q: %q, want %q", prefix, got, want)
		}
	}
	for range s.List(t.Context(), "") {
		break // a caller may have enough
	}
}

func names(t *testing.T, s store.Store) {
	for _, name := range []string{"", ".", "..", ".lock", "a/b", "/a", `a\b`, "a\x00", strings.Repeat("a", 201)} {
		_, put := s.Put(t.Context(), name, strings.NewReader("x"))
		_, create := s.Create(t.Context(), name, nil)
		_, replace := s.Replace(t.Context(), name, nil, "v")
		_, _, get := s.Get(t.Context(), name)
		_, stat := s.Stat(t.Context(), name)
		for _, err := range []error{put, create, replace, get, stat, s.Remove(t.Context(), name, "v"), s.Delete(t.Context(), name)} {
			want(t, fmt.Sprintf("name %q", name), err, store.ErrName)
		}
	}
}

func ends(t *testing.T, s store.Store) {
	put(t, s, "a", "content")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Put(ctx, "b", strings.NewReader("x"))
	want(t, "put", err, context.Canceled)
	_, _, err = s.Get(ctx, "a")
	want(t, "get", err, context.Canceled)
	_, err = s.Create(ctx, "b", nil)
	want(t, "create", err, context.Canceled)
	for _, err := range s.List(ctx, "") {
		want(t, "list", err, context.Canceled)
	}
	_, err = s.Stat(t.Context(), "b")
	want(t, "stat", err, store.ErrNotFound)
}

func probes(t *testing.T, s store.Store) {
	want(t, "probe", s.Probe(t.Context()), nil)
	for info, err := range s.List(t.Context(), "") {
		t.Errorf("the probe left %s (%v)", info.Name, err)
	}
}

func put(t *testing.T, s store.Store, name, content string) {
	t.Helper()
	if _, err := s.Put(t.Context(), name, strings.NewReader(content)); err != nil {
		t.Fatalf("put %s: %v", name, err)
	}
}

func read(t *testing.T, s store.Store, name string) string {
	t.Helper()
	r, _, err := s.Get(t.Context(), name)
	if err != nil {
		t.Fatalf("get %s: %v", name, err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return string(data)
}

func want(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
