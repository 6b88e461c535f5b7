package stored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// Source gives a snapshot of etcd as it is. Name is for errors.
type Source struct {
	Name string
	Open func(context.Context) (io.ReadCloser, error)
}

// Inspector opens a snapshot in plain, in another process. A snapshot.Worker is one.
type Inspector interface {
	Inspect(ctx context.Context, path string) (snapshot.Inspection, error)
}

// Taking is how snapshots of one cluster are taken.
type Taking struct {
	Store     store.Store
	Key       *snapshot.Key
	Inspector Inspector
	// Scratch is the folder for the snapshot in plain; empty for the system's.
	Scratch string
	Now     func() time.Time
}

// Take stores a snapshot of the first source that gives one, reads it back and opens it,
// and says so beside it last of all. meta is what is known before: its name, its time,
// and whose it is.
func (t Taking) Take(ctx context.Context, meta snapshot.Meta, from []Source) (snapshot.Meta, error) {
	sealed, err := t.upload(ctx, meta.Name, from)
	if err != nil {
		return meta, err
	}
	found, err := Prove(ctx, t.Store, t.Key, t.Inspector, t.Scratch, meta.Name)
	if err != nil {
		return meta, fmt.Errorf("read %s back: %w", meta.Name, err)
	}
	if found.Sum != sealed.PlainSum {
		return meta, fmt.Errorf("read %s back: %w: it is another one than was stored", meta.Name, snapshot.ErrDamaged)
	}
	meta.Size, meta.PlainSize, meta.Sum, meta.PlainSum = sealed.Size, sealed.PlainSize, sealed.Sum, sealed.PlainSum
	meta.Revision, meta.Keys, meta.Members = found.Revision, found.Keys, found.Members
	meta.Verified = &snapshot.Verified{Revision: found.Revision, Keys: found.Keys, Members: len(found.Members), At: t.Now().UTC().Truncate(time.Second)}
	return meta, t.describe(ctx, meta)
}

func (t Taking) describe(ctx context.Context, meta snapshot.Meta) error {
	data, err := meta.Encode()
	if err != nil {
		return err
	}
	_, err = t.Store.Put(ctx, snapshot.MetaName(meta.Name), bytes.NewReader(data))
	return err
}

// upload asks one source after the other.
func (t Taking) upload(ctx context.Context, name string, from []Source) (snapshot.Sealed, error) {
	errs := []error{}
	for _, s := range from {
		sealed, err := t.stream(ctx, s, name)
		if err == nil {
			return sealed, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", s.Name, err))
		if ctx.Err() != nil || ofStore(err) {
			break
		}
	}
	return snapshot.Sealed{}, errors.Join(errs...)
}

// ofStore tells that the store is why, and no other source does better.
func ofStore(err error) bool {
	return slices.ContainsFunc([]error{store.ErrSettings, store.ErrDenied, store.ErrUnreachable}, func(is error) bool { return errors.Is(err, is) })
}

// stream stores one source's snapshot, encrypted on its way. If either end fails, the
// other one is let go, and nothing is stored.
func (t Taking) stream(ctx context.Context, s Source, name string) (snapshot.Sealed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	plain, err := s.Open(ctx)
	if err != nil {
		return snapshot.Sealed{}, err
	}
	sealed, info, err := Put(ctx, t.Store, name, plain, t.Key)
	if err == nil && info.Size != sealed.Size {
		err = fmt.Errorf("%w: %d bytes were stored of %d", snapshot.ErrDamaged, info.Size, sealed.Size)
	}
	return sealed, err
}
