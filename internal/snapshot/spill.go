package snapshot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
)

// Spill has fill write a snapshot in plain into a file of dir, the system's folder for
// temporary files if that is empty. The file has lost its name before anything is in it
// where the system can open such a one again: then no plaintext outlives this process,
// however it ends. erase lets go of it. What fill fails with is given as it is; ErrWorker
// is for the file itself.
func Spill(dir, pattern string, fill func(io.Writer) error) (path string, erase func() error, err error) {
	file, err := os.CreateTemp(dir, pattern) // mode 0600
	if err != nil {
		return "", nil, fmt.Errorf("%w: make a file for the snapshot: %w", ErrWorker, err)
	}
	path, erase = file.Name(), func() error { return errors.Join(file.Close(), os.Remove(file.Name())) }
	if runtime.GOOS == "linux" {
		if err := os.Remove(file.Name()); err != nil {
			return "", nil, fmt.Errorf("%w: take the name from the file for the snapshot: %w", ErrWorker, errors.Join(err, file.Close()))
		}
		path, erase = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd()), file.Close
	}
	if err := fill(file); err != nil {
		return "", nil, errors.Join(err, erase())
	}
	return path, erase, nil
}
