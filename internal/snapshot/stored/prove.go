package stored

import (
	"context"
	"errors"
	"io"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// Prove reads a snapshot from the store, decrypts it into a file of a scratch folder,
// which is the system's for temporary files if it is empty, and has another process open
// it. The file is gone afterwards, also if this process is killed. It fails with what is wrong with the snapshot, or with
// the store's errors.
func Prove(ctx context.Context, s store.Store, key *snapshot.Key, in Inspector, scratch, name string) (found snapshot.Inspection, err error) {
	path, erase, err := snapshot.Spill(scratch, "quorate-snapshot-*", func(w io.Writer) error { return fetch(ctx, s, key, name, w) })
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, erase()) }()
	return in.Inspect(ctx, path)
}

func fetch(ctx context.Context, s store.Store, key *snapshot.Key, name string, to io.Writer) error {
	object, _, err := s.Get(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }() // it was read to its end, or given up
	plain, err := snapshot.Open(object, key)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, plain)
	return err
}
