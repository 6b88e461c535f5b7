package talos

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const uploading = "upload the snapshot at NODE: "

// endless never ends: only the node can end its upload.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func endlessOf(r *Restorer) func(context.Context) (any, error) {
	return any0(func(ctx context.Context) error { return r.Recover(ctx, endless{}) })
}

// Each byte arrives, however the reader gives it.
func TestUploadIsWhole(t *testing.T) {
	b := loadBundle(t)
	content := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"plain": func(r io.Reader) io.Reader { return r }, "last bytes with the end": iotest.DataErrReader,
		"by halves": iotest.HalfReader, "with empty reads": func(r io.Reader) io.Reader { return &hesitant{Reader: r} },
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, b, nil)
			if err := newRestorer(t, b, Options{Address: s.address}).Recover(t.Context(), wrap(bytes.NewReader(content))); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(s.played.uploaded, content) {
				t.Errorf("%d bytes have arrived of %d, or others", len(s.played.uploaded), len(content))
			}
		})
	}
}

// hesitant gives nothing every other time.
type hesitant struct {
	io.Reader
	turn int
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.turn++; h.turn%2 == 1 {
		return 0, nil
	}
	return h.Reader.Read(p)
}

var errSource = errors.New("the store is away")

// A reader that fails breaks the stream off, so that the node does not take what has
// come for the whole; and nobody blames the node.
func TestUploadOfABrokenReader(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	r := newRestorer(t, b, Options{Address: s.address})
	err := r.Recover(t.Context(), io.MultiReader(strings.NewReader("half a snap"), iotest.ErrReader(errSource)))
	if want := "upload the snapshot at " + s.address + ": read it: the store is away"; !errors.Is(err, errSource) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	for _, kind := range kinds() {
		if errors.Is(err, kind) {
			t.Errorf("it is of the kind %v", kind)
		}
	}
	endOf(t, s, codes.Canceled)
	if s.played.uploaded != nil {
		t.Errorf("the node has %q", s.played.uploaded)
	}
}

// endOf waits until the node's side of the stream has ended, and how.
func endOf(t *testing.T, s *server, want codes.Code) {
	t.Helper()
	within(t, "the end of the stream at the node", func() error {
		if over, _ := s.played.end(); !over {
			return errors.New("it goes on")
		}
		return nil
	})
	if _, err := s.played.end(); status.Code(err) != want && status.FromContextError(err).Code() != want {
		t.Errorf("for the node it ended with %v, want %s", err, want)
	}
}

func TestUploadsThatFail(t *testing.T) {
	notYet := status.Error(codes.FailedPrecondition, "etcd service is not ready for recovery yet")
	short := Options{Timeouts: Timeouts{Stall: 200 * time.Millisecond}}
	for _, c := range []failure{
		{name: "refused in the middle", server: func(s *server) { s.played.refuse = notYet }, restore: endlessOf, kind: ErrNotReady,
			message: uploading + "the node is not ready for it yet: rpc error: code = FailedPrecondition desc = etcd service is not ready for recovery yet; wait for the node to boot, and see its console if it does not"},
		{name: "refused at once", server: answerOf(notYet), restore: endlessOf, kind: ErrNotReady,
			message: uploading + "the node is not ready for it yet: rpc error: code = FailedPrecondition desc = etcd service is not ready for recovery yet; wait for the node to boot, and see its console if it does not"},
		{name: "role", options: Options{Role: Operator}, restore: endlessOf, kind: ErrDenied,
			message: uploading + "the node denies it: rpc error: code = PermissionDenied desc = not authorized; use a bundle of this cluster and a role that may do it"},
		{name: "node that reads no more", server: func(s *server) { s.played.deaf = true }, options: short, restore: endlessOf, kind: ErrUnreachable,
			message: uploading + "no answer from the node: silent for 200ms: context deadline exceeded" + checkNet},
		{name: "node that does not say that it has all", server: func(s *server) { s.played.deaf = true }, options: short, kind: ErrUnreachable,
			restore: func(r *Restorer) func(context.Context) (any, error) { return recoverOf(r, "small") },
			message: uploading + "no answer from the node: silent for 200ms: context deadline exceeded" + checkNet},
		{name: "node that takes a part for the whole", server: func(s *server) { s.played.curt = true }, restore: endlessOf, kind: ErrFailed,
			message: uploading + "the node answers with an error: it took a part for the whole" + logs},
		{name: "bytes that are lost", server: func(s *server) { s.played.lose = 2 }, kind: ErrFailed,
			restore: func(r *Restorer) func(context.Context) (any, error) { return recoverOf(r, "a snapshot") },
			message: uploading + "the node answers with an error: 10 bytes are sent, and it has 8" + logs},
		{name: "file that is gone", kind: ErrFailed,
			server: func(s *server) {
				s.played.listing = errors.New("lstat /var/lib/etcd.snapshot: no such file or directory")
			},
			restore: func(r *Restorer) func(context.Context) (any, error) { return recoverOf(r, "a snapshot") },
			message: uploading + "the node answers with an error: 10 bytes are sent, and it has no file" + logs},
	} {
		t.Run(c.name, c.run)
	}
}

// The end of the caller's context is the caller's doing, and the node hears of it.
func TestUploadThatTheCallerEnds(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := newRestorer(t, b, Options{Address: s.address}).Recover(ctx, io.MultiReader(io.LimitReader(endless{}, 1<<20), ending{cancel}, endless{}))
	if want := "upload the snapshot at " + s.address + ": context canceled"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	endOf(t, s, codes.Canceled)
}

// ending is empty, and ends something when it is read.
type ending struct{ what func() }

func (e ending) Read([]byte) (int, error) { e.what(); return 0, io.EOF }
