package talos

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc/stats"
)

// answers is a stats.Handler that tells a status of the server from one that the
// client made up.
type answers struct{}

type answerKey struct{}

// withAnswer has the handler note in answered that the server ended the call.
func withAnswer(ctx context.Context, answered *atomic.Bool) context.Context {
	return context.WithValue(ctx, answerKey{}, answered)
}

// HandleRPC implements stats.Handler.
func (answers) HandleRPC(ctx context.Context, s stats.RPCStats) {
	if _, ok := s.(*stats.InTrailer); !ok {
		return
	}
	if answered, ok := ctx.Value(answerKey{}).(*atomic.Bool); ok {
		answered.Store(true)
	}
}

// TagRPC implements stats.Handler.
func (answers) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (answers) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (answers) HandleConn(context.Context, stats.ConnStats) {}
