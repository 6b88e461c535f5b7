package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// source is where the verified snapshot is.
type source int

const (
	nowhere source = iota
	inFolder
	inStore
)

var (
	// errSum: what was read is not the snapshot that was pinned.
	errSum = errors.New("it is not what was pinned")
	// errDamaged: the last copy is not.
	errDamaged = errors.New("the pinned snapshot is damaged")
)

// wants tells whether a decision needs a verified snapshot at hand.
func wants(d restoring.Decision) bool {
	return d.State.Step != v1alpha1.StepRejoining && slices.ContainsFunc(d.Acts, func(a restoring.Act) bool { return a.Kind.Destroys() })
}

// stage sees that a verified snapshot is at hand before anything is wiped: in the
// folder, where it outlives the store, or in the store if the folder fails.
func (r *run) stage(ctx context.Context) error {
	folder := r.verifyFolder()
	if folder == nil {
		r.source = inFolder
		return nil
	}
	folder, err := r.fetch(ctx)
	switch {
	case errors.Is(err, errSum):
		return fmt.Errorf("%w: %s in the object store: %w", errDamaged, r.marker.Pinned.Object(), err)
	case err != nil:
		return fmt.Errorf("nothing is done before the snapshot is at hand: %w", errors.Join(folder, err))
	case folder != nil:
		r.Log.Info("the snapshot stays in the object store alone", "why", folder.Error())
		r.source = inStore
		return nil
	}
	r.source = inFolder
	return nil
}

func (r *run) verifyFolder() error {
	if r.Desk == nil {
		return errNoFolder
	}
	f, err := r.Desk.Snapshot()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // nothing is written to it
	_, err = io.Copy(io.Discard, r.checked(f))
	return err
}

// fetch copies the pinned snapshot into the folder, or only reads it if that fails.
func (r *run) fetch(ctx context.Context) (folder, err error) {
	folder = errNoFolder
	if r.Desk != nil {
		var plain io.ReadCloser
		if plain, err = r.pinned(ctx); err != nil {
			return nil, err
		}
		failed := &failing{r: r.checked(plain)}
		folder = r.Desk.Stage(failed)
		_ = plain.Close() // nothing is written to it
		if folder == nil || failed.err != nil {
			return folder, failed.err
		}
	}
	plain, err := r.pinned(ctx)
	if err != nil {
		return folder, err
	}
	defer func() { _ = plain.Close() }() // nothing is written to it
	_, err = io.Copy(io.Discard, r.checked(plain))
	return folder, err
}

// failing keeps the reader's error apart from the writer's.
type failing struct {
	r   io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// pinned opens the plaintext of the copy in the store.
func (r *run) pinned(ctx context.Context) (io.ReadCloser, error) {
	if r.Store == nil || r.Decrypt == nil {
		return nil, errors.New("there is no object store or no key to read the pinned snapshot with")
	}
	sealed, _, err := r.Store.Get(ctx, r.marker.Pinned.Object())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", r.marker.Pinned.Object(), err)
	}
	plain, err := r.Decrypt(sealed)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("decrypt %s: %w", r.marker.Pinned.Object(), err), sealed.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, sealed}, nil
}

// upload brings the verified snapshot to the target. It is checked once more on its
// way: if it changed, the stream is broken off, and the node keeps nothing.
func (r *run) upload(ctx context.Context, client NodeClient) error {
	from, err := r.open(ctx)
	if err == nil {
		err = client.Recover(ctx, &holding{ctx: ctx, run: r, r: r.checked(from)})
		_ = from.Close() // nothing was written to it
	}
	if err != nil {
		r.source = nowhere // verify again, and take the other copy if this one is bad
		return err
	}
	return nil
}

func (r *run) open(ctx context.Context) (io.ReadCloser, error) {
	if r.source == inFolder {
		return r.Desk.Snapshot()
	}
	return r.pinned(ctx)
}

// checked ends with errSum in the place of io.EOF if it is not what was pinned.
func (r *run) checked(from io.Reader) io.Reader {
	return &checked{r: from, sum: sha256.New(), want: r.marker.Pinned}
}

type checked struct {
	r    io.Reader
	sum  hash.Hash
	size int64
	want Pinned
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	c.size += int64(n)
	if !errors.Is(err, io.EOF) {
		return n, err
	}
	if got := hex.EncodeToString(c.sum.Sum(nil)); got != c.want.PlainSum {
		return n, fmt.Errorf("%w: %d bytes have the SHA-256 %s, and %s was pinned", errSum, c.size, got, c.want.PlainSum)
	}
	return n, err
}

// holding keeps the hold of the restore while an upload takes its time.
type holding struct {
	ctx context.Context
	run *run
	r   io.Reader
}

func (h *holding) Read(p []byte) (int, error) {
	if _, err := h.run.renew(h.ctx); err != nil {
		return 0, err
	}
	if !h.run.held() {
		return 0, errWait
	}
	return h.r.Read(p)
}
