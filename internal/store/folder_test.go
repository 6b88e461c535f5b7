package store_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/store/storetest"
)

func open(t *testing.T, dir string) store.Store {
	t.Helper()
	s, err := store.NewFolder(dir)
	if err != nil {
		t.Fatalf("open the folder: %v", err)
	}
	return s
}

func TestFolderContract(t *testing.T) {
	storetest.Contract(t, func(t *testing.T) store.Store { return open(t, filepath.Join(t.TempDir(), "store")) })
}

// A reader that is under way keeps what it reads.
func TestFolderReadersKeepTheirContent(t *testing.T) {
	s := open(t, t.TempDir())
	for _, content := range []string{"first", "second"} {
		if _, err := s.Put(t.Context(), "a", strings.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		if content == "second" {
			continue
		}
		r, _, err := s.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			data, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil || string(data) != "first" {
				t.Errorf("read %q, %v", data, err)
			}
		}()
	}
}

// What a writer that died left can be swept, and is never listed.
func TestFolderSweepsWhatTheDeadLeft(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	for name, age := range map[string]time.Duration{".put-old": 25 * time.Hour, ".put-new": time.Hour} {
		path := filepath.Join(dir, name)
		at := time.Now().Add(-age)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	for info, err := range s.List(t.Context(), "") {
		t.Errorf("listed %s, %v", info.Name, err)
	}
	if err := s.(store.Sweeper).Sweep(t.Context(), time.Now().Add(-24*time.Hour)); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, ".put-*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != ".put-new" {
		t.Errorf("left are %q, %v", left, err)
	}
}

// Another process holds the lock: whoever writes waits, and no longer than it may.
func TestFolderWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	file, err := os.Create(filepath.Join(dir, ".lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err = s.Create(ctx, "a", []byte("x"))
	if want := "create object a: unreachable: another process writes to it: context deadline exceeded"; err == nil || err.Error() != want {
		t.Errorf("said %v, want %s", err, want)
	}
	if !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("it is no ErrUnreachable: %v", err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), "a", []byte("x")); err != nil {
		t.Errorf("after the lock is free: %v", err)
	}
}

// A folder that is gone is not an empty one: a marker would be overlooked.
func TestFolderThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	_, err := s.Stat(t.Context(), "a")
	if !errors.Is(err, store.ErrSettings) || errors.Is(err, store.ErrNotFound) {
		t.Errorf("stat: %v", err)
	}
	for _, err := range s.List(t.Context(), "") {
		if !errors.Is(err, store.ErrSettings) {
			t.Errorf("list: %v", err)
		}
	}
}
