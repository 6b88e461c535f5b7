package worker

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/quorate/quorate/internal/snapshot"
)

func TestRoom(t *testing.T) {
	if err := fits(100<<20, 100<<20); err != nil {
		t.Error(err)
	}
	want := "the snapshot could not be looked at: a restored copy of it needs 100 MiB, and its disk has 99 MiB left; make room"
	if err := fits(100<<20, 99<<20); !errors.Is(err, snapshot.ErrWorker) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	full := fmt.Errorf("restore: %w", &fs.PathError{Op: "write", Path: "db", Err: syscall.ENOSPC})
	if got := blamed(full); got != snapshot.ErrWorker {
		t.Errorf("a full disk is %v", got)
	}
	if got := blamed(errors.New("no hash")); got != snapshot.ErrDamaged {
		t.Errorf("another error is %v", got)
	}
}
