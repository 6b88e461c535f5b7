package talos

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errPowerLost is what a handler answers into a connection that is about to break.
var errPowerLost = status.Error(codes.Unavailable, "the machine lost its power")

// faultUnary lets the node's faults strike a call.
func (b *boot) faultUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	call := callName(info.FullMethod)
	if err := b.strikeBefore(ctx, call); err != nil {
		return nil, err
	}
	answer, err := handler(ctx, req)
	if err := b.strikeAfter(ctx, call, err); err != nil {
		return nil, err
	}
	return answer, nil
}

func (b *boot) faultStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	call := callName(info.FullMethod)
	if err := b.strikeBefore(stream.Context(), call); err != nil {
		return err
	}
	err := handler(srv, b.shorten(stream, call, info.IsClientStream))
	if cut := (*cutError)(nil); errors.As(err, &cut) {
		err = cut.as
	}
	return b.strikeAfter(stream.Context(), call, err)
}

func (b *boot) strikeBefore(ctx context.Context, call string) error {
	if b.node.faults.once(call, beforeActing) {
		b.behind(func(context.Context) error { return b.node.blink(b) })
		<-b.ctx.Done()
		return errPowerLost
	}
	for _, f := range b.node.faults.of(call) {
		if err := pause(ctx, f.delay); err != nil {
			return err
		}
		if f.before != nil {
			return f.before
		}
		if f.meets == nil {
			continue
		}
		if err := f.meets(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// strikeAfter turns the answer of a call into what its client gets.
func (b *boot) strikeAfter(ctx context.Context, call string, err error) error {
	for _, f := range b.node.faults.of(call) {
		if f.lose {
			select {
			case <-ctx.Done():
			case <-b.ctx.Done():
			}
			return errPowerLost
		}
		if f.after != nil {
			return f.after
		}
		if f.met == nil || err != nil {
			continue
		}
		if err := f.met(ctx, call); err != nil {
			return err
		}
	}
	if b.node.faults.once(call, afterAnswer) {
		b.behind(func(context.Context) error { return b.node.cycle(b, nil) })
	}
	return err
}

// cutError ends a stream's handler, and says how the client shall see it.
type cutError struct{ as error }

func (e *cutError) Error() string { return "the stream was cut" }

// shorten answers the stream, or one that ends early: an upload by what is received.
func (b *boot) shorten(stream grpc.ServerStream, call string, upload bool) grpc.ServerStream {
	for _, f := range b.node.faults.of(call) {
		if f.cuts {
			return &shortStream{ServerStream: stream, upload: upload, left: f.messages, cut: &cutError{as: f.cut}}
		}
	}
	return stream
}

type shortStream struct {
	grpc.ServerStream
	upload bool
	left   int
	cut    *cutError
}

func (s *shortStream) SendMsg(m any) error {
	if s.upload {
		return s.ServerStream.SendMsg(m)
	}
	if s.left == 0 {
		return s.cut
	}
	s.left--
	return s.ServerStream.SendMsg(m)
}

// RecvMsg takes a clean end in the middle of an upload for its whole, as the server does.
func (s *shortStream) RecvMsg(m any) error {
	if !s.upload {
		return s.ServerStream.RecvMsg(m)
	}
	if s.left == 0 && s.cut.as == nil {
		return io.EOF
	}
	if s.left == 0 {
		return s.cut
	}
	s.left--
	return s.ServerStream.RecvMsg(m)
}
