package worker

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quorate/quorate/internal/snapshot"
)

// logSize is what etcd sets aside for its log, in bytes (server/storage/wal).
const logSize = 64 << 20

// roomFor fails where a restored copy of a file does not fit into a folder: a disk that
// is full in the midst of it would look like damage.
func roomFor(path, dir string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", snapshot.ErrWorker, err)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("%w: ask for the room in %s: %w", snapshot.ErrWorker, dir, err)
	}
	return fits(uint64(info.Size())+logSize, disk.Bavail*uint64(disk.Bsize))
}

func fits(needed, free uint64) error {
	if needed <= free {
		return nil
	}
	return fmt.Errorf("%w: a restored copy of it needs %d MiB, and its disk has %d MiB left; make room", snapshot.ErrWorker, needed>>20, free>>20)
}

// blamed is whose fault an error of a restore is: what the system refuses is none of the
// snapshot's.
func blamed(err error) error {
	if _, refused := errors.AsType[syscall.Errno](err); refused {
		return snapshot.ErrWorker
	}
	return snapshot.ErrDamaged
}
