package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

var (
	// ErrNotFound says that there is no object of that name. A bucket or a folder that is
	// missing is none: ErrSettings, so that nobody takes it for an empty one.
	ErrNotFound = errors.New("not found")
	// ErrExists says that an object of that name exists already.
	ErrExists = errors.New("exists already")
	// ErrChanged says that the object is not as it was when its version was read.
	ErrChanged = errors.New("changed since it was read")
	// ErrDenied says that the store refuses these credentials.
	ErrDenied = errors.New("denied")
	// ErrUnreachable says that the store did not answer, or not in time. What was asked
	// for may have been done all the same.
	ErrUnreachable = errors.New("unreachable")
	// ErrUnconditional says that the store ignores the condition of a write.
	ErrUnconditional = errors.New("the store ignores conditions on writes")
	// ErrSettings says that the settings of a store cannot be used as they are.
	ErrSettings = errors.New("settings of the object store")
	// ErrName says that a name cannot be an object's.
	ErrName = errors.New("not an object's name")
)

// Version stands for an object's content as it was read; opaque. Equal content may have
// an equal version: who compares and swaps makes each content differ.
type Version string

// Info describes an object.
type Info struct {
	// Name is without the store's prefix.
	Name string
	// Size is in bytes.
	Size int64
	// Modified is by the store's clock; zero where Put has no way to know.
	Modified time.Time
	Version  Version
}

// Store is an object store. All methods can be called at the same time. Each call ends:
// at its context's end, or when the bounds of the store's options are used up.
type Store interface {
	// Put stores what the reader gives, however long, in bounded memory, and replaces
	// what was there. Nothing is visible before it is whole; if the reader or the store
	// fails, nothing is left of it.
	Put(ctx context.Context, name string, r io.Reader) (Info, error)
	// Create stores a small object of a name that is free; else ErrExists. After
	// ErrUnreachable it may exist.
	Create(ctx context.Context, name string, data []byte) (Version, error)
	// Replace replaces a small object that is as it was at that version; else ErrChanged
	// or ErrNotFound.
	Replace(ctx context.Context, name string, data []byte, v Version) (Version, error)
	// Remove deletes an object that is as it was at that version; else ErrChanged. One
	// that is absent is a success.
	Remove(ctx context.Context, name string, v Version) error
	// Get reads an object; ErrNotFound if there is none. An error while reading may be
	// any of this package's. The caller closes.
	Get(ctx context.Context, name string) (io.ReadCloser, Info, error)
	// Stat describes an object; ErrNotFound if there is none.
	Stat(ctx context.Context, name string) (Info, error)
	// List yields the objects whose names begin with a prefix, in the order of their
	// names. It ends with the first error.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Delete deletes an object; one that is absent is a success.
	Delete(ctx context.Context, name string) error
	// Probe asks whether the store holds to the conditions of writes: ErrUnconditional
	// if not. It writes an object of its own and removes it.
	Probe(ctx context.Context) error
}

// Sweeper removes what writers left that died while they put an object: parts that no
// list shows. Both stores of this package are one.
type Sweeper interface {
	// Sweep removes what was begun before that time.
	Sweep(ctx context.Context, before time.Time) error
}

// MaxSmall is how long an object may be that is written on condition, in bytes.
const MaxSmall = 1 << 20

// ReadSmall reads a small object whole.
func ReadSmall(ctx context.Context, s Store, name string) ([]byte, Version, error) {
	r, info, err := s.Get(ctx, name)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, MaxSmall+1))
	if err == nil && len(data) > MaxSmall {
		err = fmt.Errorf("it has more than %d bytes", MaxSmall)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read object %s: %w", name, err)
	}
	return data, info.Version, nil
}

// checkName lets names pass that are one in every store: neither folders nor hidden.
func checkName(name string) error {
	if name == "" || len(name) > 200 || strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/\\\x00") {
		return fmt.Errorf("%w: %q (one name without slashes that does not begin with a dot, of 1 to 200 characters)", ErrName, name)
	}
	return nil
}

func checkSmall(name string, data []byte) error {
	if len(data) > MaxSmall {
		return fmt.Errorf("write object %s on condition: it has %d bytes, and at most %d can be", name, len(data), MaxSmall)
	}
	return nil
}
