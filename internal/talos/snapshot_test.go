package talos

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const reading = "read a snapshot of etcd at NODE: "

// Whoever closes a snapshot ends the node's work for it, in the middle too.
func TestSnapshotThatIsClosed(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, func(s *server) { s.played.held = true })
	r := newRestorer(t, b, Options{Address: s.address})
	stream, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.ReadFull(stream, make([]byte, 6)); n != 6 || err != nil {
		t.Fatalf("%d bytes: %v", n, err)
	}
	for range 2 {
		if err := stream.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	endOf(t, s, codes.Canceled)
	_, err = io.Copy(io.Discard, stream)
	if want := "read a snapshot of etcd at " + s.address + ": use of closed network connection"; !errors.Is(err, net.ErrClosed) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A stream that the node cut short ends as a whole one: the reader has to check it.
func TestSnapshotThatIsCutAtTheNodeEndsCleanly(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, func(s *server) { s.played.parts = s.played.parts[:1] })
	if got, err := snapshotOf(newRestorer(t, b, Options{Address: s.address}))(t.Context()); err != nil || got != "the data" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSnapshotsThatFail(t *testing.T) {
	var half *server
	for _, c := range []failure{
		{name: "no quorum", server: func(s *server) {
			s.played.parts, s.played.partsEnd = nil, errors.New("failed reading etcd snapshot: no leader")
		}, restore: snapshotOf, kind: ErrFailed,
			message: reading + "the node answers with an error: rpc error: code = Unknown desc = failed reading etcd snapshot: no leader" + logs},
		{name: "worker", server: answerOf(status.Error(codes.Unimplemented, "etcd snapshot is only available on control plane nodes")), restore: snapshotOf, kind: ErrNotControlPlane,
			message: reading + "the node is no control plane: rpc error: code = Unimplemented desc = etcd snapshot is only available on control plane nodes; ask a control plane"},
		{name: "empty", server: func(s *server) { s.played.parts = nil }, restore: snapshotOf, kind: ErrFailed,
			message: reading + "the node answers with an error: the answer is empty" + logs},
		{name: "an error in the middle", server: func(s *server) { s.played.partsEnd = errors.New("the disk is ill") }, restore: snapshotOf, kind: ErrFailed,
			message: reading + "the node answers with an error: rpc error: code = Unknown desc = the disk is ill" + logs},
		{name: "an error of a proxy", restore: snapshotOf, kind: ErrFailed,
			server: func(s *server) {
				s.played.parts = append(s.played.parts, &common.Data{Metadata: &common.Metadata{Error: "the node is away"}})
			},
			message: reading + "the node answers with an error: the node is away" + logs},
		{name: "cut", server: func(s *server) { half = s; s.before = func(ctx context.Context) error { return half.cut(ctx) } }, restore: snapshotOf, kind: ErrUnreachable,
			message: reading + "no answer from the node: rpc error: code = Unavailable desc = error reading from server: CUT" + checkNet},
		{name: "stalls", server: func(s *server) { s.played.held = true }, options: Options{Timeouts: Timeouts{Stall: 200 * time.Millisecond}}, restore: snapshotOf, kind: ErrUnreachable,
			message: reading + "no answer from the node: silent for 200ms: context deadline exceeded" + checkNet},
		{name: "lasts too long", server: func(s *server) { s.played.held = true }, options: Options{Timeouts: Timeouts{Transfer: 200 * time.Millisecond}}, restore: snapshotOf, kind: ErrUnreachable,
			message: reading + "no answer from the node: silent for 200ms: context deadline exceeded" + checkNet},
	} {
		t.Run(c.name, c.run)
	}
}

// Time that passes between two steps of a stream is its reader's, and no silence of
// the node.
func TestStallIsThatOfOneStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &client{timeouts: Timeouts{Stall: time.Minute}}
		one := c.begin(t.Context(), time.Hour, "read")
		defer one.end()
		for range 3 {
			if err := one.step(func() error { return nil }); err != nil {
				t.Fatal(err)
			}
			<-time.After(10 * time.Minute)
		}
		if err := context.Cause(one.ctx); err != nil {
			t.Fatalf("between two steps it ended: %v", err)
		}
		start := time.Now()
		err := one.step(func() error { return silence(one.ctx) })
		if took := time.Since(start); took != time.Minute || !errors.Is(err, context.Canceled) || !errors.Is(context.Cause(one.ctx), errStalled) {
			t.Errorf("a step that stalls ended after %s with %v, for %v", took, err, context.Cause(one.ctx))
		}
	})
}

func TestSnapshotThatTheCallerEnds(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, func(s *server) { s.played.held = true })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := newRestorer(t, b, Options{Address: s.address}).Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }() // it never fails
	cancel()
	_, err = io.Copy(io.Discard, stream)
	if want := "read a snapshot of etcd at " + s.address + ": context canceled"; !errors.Is(err, context.Canceled) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	endOf(t, s, codes.Canceled)
}
