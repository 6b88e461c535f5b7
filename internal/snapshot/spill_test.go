package snapshot

import (
	"errors"
	"io"
	"os"
	"testing"
)

func files(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// While it is filled and looked at, the file has no name by which it could stay: a process
// that is killed leaves nothing.
func TestSpillLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	path, erase, err := Spill(dir, "quorate-snapshot-*", func(w io.Writer) error {
		if left := files(t, dir); len(left) > 0 {
			t.Errorf("while it is filled there is %v", left)
		}
		_, err := io.WriteString(w, "plain")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "plain" {
		t.Errorf("%s has %q, %v", path, content, err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("while it is looked at there is %v", left)
	}
	if err := erase(); err != nil {
		t.Error(err)
	}
	if _, err := os.ReadFile(path); err == nil {
		t.Error("it can be read after it was erased")
	}
}

func TestSpillFails(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := Spill(dir, "quorate-snapshot-*", func(io.Writer) error { return ErrChecksum }); !errors.Is(err, ErrChecksum) || err.Error() != ErrChecksum.Error() {
		t.Errorf("what filling fails with is %v", err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	if _, _, err := Spill(dir+"/none", "x", func(io.Writer) error { return nil }); !errors.Is(err, ErrWorker) {
		t.Errorf("without a folder: %v", err)
	}
}
