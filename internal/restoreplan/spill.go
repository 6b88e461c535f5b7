package restoreplan

import (
	"fmt"
	"io"
	"os"
	"runtime"
)

// spill writes what is read into a file that has lost its name already, where the system
// can open such a one again: then no plaintext outlives this process, however it ends.
func spill(r io.Reader) (path string, erase func(), err error) {
	file, err := os.CreateTemp("", "quorate-plan-*")
	if err != nil {
		return "", nil, fmt.Errorf("make a file for the snapshot: %w", err)
	}
	path = file.Name()
	erase = func() {
		_ = file.Close()           // all was written, or nothing of it counts
		_ = os.Remove(file.Name()) // gone already on Linux
	}
	if runtime.GOOS == "linux" {
		path = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), file.Fd())
		err = os.Remove(file.Name())
	}
	if err == nil {
		_, err = io.Copy(file, r)
	}
	if err != nil {
		erase()
		return "", nil, fmt.Errorf("keep the snapshot for looking at: %w", err)
	}
	return path, erase, nil
}
