package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/quorate/quorate/guard/rejoin"
)

const removedID rejoin.ID = 0xa

// database writes one that has a tombstone, and gives its data directory.
func database(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "member", "snap"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(filepath.Join(dir, "member", "snap", "db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("members_removed"))
		if err != nil {
			return err
		}
		return bucket.Put([]byte(removedID.String()), []byte("removed"))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// beside runs a test with quorate-guard in a folder of its own.
func beside(t *testing.T) (reader string) {
	t.Helper()
	dir, before := t.TempDir(), executable
	executable = func() (string, error) { return filepath.Join(dir, "quorate-guard"), nil }
	t.Cleanup(func() { executable = before })
	return filepath.Join(dir, readerName)
}

//
func TestReaderBeside(t *testing.T) {
	dir, w := database(t), newWitnesses()
	for id, want := range map[rejoin.ID]rejoin.Witness{
		removedID: {Answer: rejoin.Yes, Why: "among 1 in members_removed"},
		0xb:       {Answer: rejoin.No, Why: "not among 1 in members_removed"},
	} {
		if got := w.Tombstone(t.Context(), dir, id); got != want {
			t.Errorf("member %s: got %q, want %q", id, got, want)
		}
	}
	if got, want := w.Applied(t.Context(), dir), (rejoin.Witness{Answer: rejoin.Yes, Why: "entries were applied to the bolt file"}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Without its reader the database cannot be read, which is never a no.
//
//
func TestNoReader(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, reader string)
		why  string
	}{
		"missing": {func(*testing.T, string) {}, "the reader READER is missing: install it"},
		"not to be run": {func(t *testing.T, reader string) {
			if err := os.WriteFile(reader, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "start the reader: fork/exec READER: permission denied"},
		"a folder": {func(t *testing.T, reader string) {
			if err := os.Mkdir(reader, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "start the reader: fork/exec READER: permission denied"},
		"of an unknown folder": {func(*testing.T, string) {
			executable = func() (string, error) { return "", errors.New("no /proc") }
		}, "find the folder of quorate-guard-reader: no /proc"},
	} {
		t.Run(name, func(t *testing.T) {
			reader := beside(t)
			c.make(t, reader)
			w, dir := newWitnesses(), database(t)
			want := rejoin.Witness{Answer: rejoin.Unreadable, Why: strings.ReplaceAll(c.why, "READER", reader)}
			if got := w.Tombstone(t.Context(), dir, removedID); got != want {
				t.Errorf("tombstone: got %q, want %q", got, want)
			}
			if got := w.Applied(t.Context(), dir); got != want {
				t.Errorf("applied: got %q, want %q", got, want)
			}
		})
	}
}
