package store

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errSilent ends a request whose answer does not come, or does not go on.
var errSilent = errors.New("the store is silent")

// slowest is what a sender is allowed to be as slow as, in bytes a second.
const slowest = 64 << 10

// patient waits for so long for an answer, and for so long for each piece of its body.
// A time for the whole would cut a long download.
type patient struct {
	client  *http.Client
	timeout time.Duration
}

func (p *patient) Do(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	limit := p.timeout + time.Duration(max(r.ContentLength, 0)/slowest)*time.Second
	timer := time.AfterFunc(limit, func() { cancel(errSilent) })
	answer, err := p.client.Do(r.WithContext(ctx))
	timer.Stop()
	if err != nil {
		err = cause(ctx, err)
		cancel(nil)
		return nil, err
	}
	answer.Body = &watched{ctx: ctx, cancel: cancel, body: answer.Body, timeout: p.timeout}
	return answer, nil
}

// watched is a body whose every piece has a deadline.
type watched struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	body    io.ReadCloser
	timeout time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	timer := time.AfterFunc(w.timeout, func() { w.cancel(errSilent) })
	n, err := w.body.Read(p)
	timer.Stop()
	if err != nil && err != io.EOF {
		err = cause(w.ctx, err)
	}
	return n, err
}

func (w *watched) Close() error {
	w.cancel(nil)
	return w.body.Close()
}

// cause tells our own deadline from the caller's end.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errSilent) {
		return errSilent
	}
	return err
}
