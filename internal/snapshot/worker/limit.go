package worker

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/quorate/quorate/internal/snapshot"
)

// room is what a reseal writes besides a second copy of the database: a log, and pages
// that the database grows by.
const room = 256 << 20

// limit bounds this process from here on. No core is dumped, as it would hold secrets.
func limit(l snapshot.Limits, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", snapshot.ErrWorker, err)
	}
	for _, r := range []struct {
		what string
		kind int
		most uint64
	}{
		{"cores", unix.RLIMIT_CORE, 0},
		{"memory", unix.RLIMIT_DATA, uint64(l.Memory)},
		{"processor time", unix.RLIMIT_CPU, uint64(l.Time.Seconds()) + 1},
		{"the size of files", unix.RLIMIT_FSIZE, uint64(2*info.Size() + room)},
		{"open files", unix.RLIMIT_NOFILE, 64},
	} {
		if err := unix.Setrlimit(r.kind, &unix.Rlimit{Cur: r.most, Max: r.most}); err != nil {
			return fmt.Errorf("%w: limit %s: %w", snapshot.ErrWorker, r.what, err)
		}
	}
	return nil
}
