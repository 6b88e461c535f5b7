package etcds

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// writer writes keys one after the other, each until it is acknowledged.
type writer struct {
	p      *plant
	acked  atomic.Int64
	stalls atomic.Int64 // calls that nobody answered within putTimeout
	cancel context.CancelFunc
	done   chan struct{}
}

// putTimeout is longer than an election.
const putTimeout = 5 * time.Second

// write starts a writer through the Etcd's client Service.
func (p *plant) write() *writer {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	w := &writer{p: p, cancel: cancel, done: make(chan struct{})}
	p.t.Cleanup(cancel)
	c := p.client()
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			call, stop := context.WithTimeout(ctx, putTimeout)
			_, err := c.Put(call, fmt.Sprintf("/writer/%d", w.acked.Load()), "x")
			switch {
			case err == nil:
				w.acked.Add(1)
			case call.Err() != nil && ctx.Err() == nil:
				w.stalls.Add(1)
			}
			stop()
		}
	}()
	return w
}

// kept ends the writer and checks that every key that it was told of is there.
func (w *writer) kept() {
	w.p.t.Helper()
	w.cancel()
	<-w.done
	n := int(w.acked.Load())
	if n == 0 {
		w.p.t.Error("nothing was written")
	}
	there := map[string]bool{}
	c := w.p.client()
	ctx, cancel := context.WithTimeout(w.p.t.Context(), 20*time.Second)
	defer cancel()
	response, err := c.Get(ctx, "/writer/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(w.p.t, err)
	for _, kv := range response.Kvs {
		there[string(kv.Key)] = true
	}
	for i := range n {
		if key := fmt.Sprintf("/writer/%d", i); !there[key] {
			w.p.t.Errorf("%s was acknowledged and is not there", key)
		}
	}
}
