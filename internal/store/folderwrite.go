package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// How long a writer waits for the others, and how it asks: first after lockFirst, doubled
// up to lockMost.
const (
	lockWait  = 30 * time.Second
	lockFirst = 5 * time.Millisecond
	lockMost  = 200 * time.Millisecond
)

func (f *folder) Put(ctx context.Context, name string, r io.Reader) (Info, error) {
	info, err := f.put(ctx, name, r)
	if err != nil {
		return Info{}, fmt.Errorf("put object %s: %w", name, classifyFile(err))
	}
	return info, nil
}

func (f *folder) put(ctx context.Context, name string, r io.Reader) (Info, error) {
	if err := checkName(name); err != nil {
		return Info{}, err
	}
	file, err := f.temp(ctx, r)
	if err != nil {
		return Info{}, err
	}
	defer os.Remove(file.Name()) // a success has moved it away
	defer file.Close()
	var info Info
	err = f.locked(ctx, func() error {
		if err := os.Rename(file.Name(), f.path(name)); err != nil {
			return err
		}
		info, err = describe(file, name)
		return errors.Join(err, f.sync())
	})
	return info, err
}

// temp writes what is put into a file of its own, to the disk.
func (f *folder) temp(ctx context.Context, r io.Reader) (*os.File, error) {
	file, err := os.CreateTemp(f.dir, tempPrefix)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(file, &bounded{ctx: ctx, r: r})
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}

// bounded ends with its context, and hides shortcuts by which a copy would pass it.
type bounded struct {
	ctx context.Context
	r   io.Reader
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}

func (f *folder) Delete(ctx context.Context, name string) error {
	err := checkName(name)
	if err == nil {
		err = f.locked(ctx, func() error { return f.unlink(name) })
	}
	if err != nil {
		return fmt.Errorf("delete object %s: %w", name, classifyFile(err))
	}
	return nil
}

func (f *folder) unlink(name string) error {
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return f.sync()
}

// sync has the disk keep the folder's names.
func (f *folder) sync() error {
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// locked runs what changes the folder while no other process does. The lock ends with
// the process that holds it.
func (f *folder) locked(ctx context.Context, do func() error) error {
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	file, err := os.OpenFile(f.path(lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	for pause := lockFirst; ; pause = min(2*pause, lockMost) {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return do()
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock the store's folder: %w", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%w: another process writes to it: %w", ErrUnreachable, ctx.Err())
		}
	}
}
