// Package stored puts snapshots into an object store, encrypted on their way, and proves
// that they can be read from there.
package stored

import (
	"context"
	"errors"
	"io"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// Putter is what is needed of a store.
type Putter interface {
	Put(ctx context.Context, name string, r io.Reader) (store.Info, error)
}

// errFull ends the sealing when the store has given up.
var errFull = errors.New("the store takes no more")

// Put encrypts a snapshot in plain to a key and stores it. If either end fails, the other
// one is let go, and nothing is stored. It closes plain, so that a stream from which
// nothing comes is let go too.
func Put(ctx context.Context, s Putter, name string, plain io.ReadCloser, k *snapshot.Key) (sealed snapshot.Sealed, info store.Info, err error) {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		sealed, err = snapshot.Seal(w, plain, k)
		_ = w.CloseWithError(err) // never fails
	}()
	info, err = s.Put(ctx, name, r)
	_ = r.CloseWithError(errors.Join(errFull, err))
	_ = plain.Close() // it was read to its end, or given up
	<-done
	return sealed, info, err
}
