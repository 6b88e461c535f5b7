package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
)

// lock holds the file's lock until unlock is called. The kernel gives it back
// when the process ends, however it ends, so no stale lock can stay.
func lock(ctx context.Context, path string, stderr io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the tools: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
		return func() { file.Close() }, nil
	}
	fmt.Fprintln(stderr, "tools: another build is running; waiting for it")
	locked := make(chan error, 1)
	go func() { locked <- syscall.Flock(int(file.Fd()), syscall.LOCK_EX) }()
	select {
	case err = <-locked:
	case <-ctx.Done():
		err = context.Cause(ctx) // the process ends now, and the blocked call with it
	}
	if err != nil {
		return nil, fmt.Errorf("wait for another build (lock %s): %w", path, err)
	}
	return func() { file.Close() }, nil
}
