package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anishathalye/porcupine"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

const (
	// patience is how long a client waits for an answer.
	patience = 3 * time.Second
	// clientEvery is a client's pace.
	clientEvery = 40 * time.Millisecond
	// redialAfter is the longest pause of a client that cannot connect.
	redialAfter = time.Second
)

func connect(urls ...string) (*clientv3.Client, error) {
	c, err := clientv3.New(clientv3.Config{
		Endpoints: urls, Logger: zap.NewNop(), DialKeepAliveTime: patience, DialKeepAliveTimeout: patience,
		DialOptions: []grpc.DialOption{grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: redialAfter},
			MinConnectTimeout: patience,
		})},
	})
	if err != nil {
		return nil, fmt.Errorf("make an etcd client: %w", err)
	}
	return c, nil
}

// worker is one client that reads, writes and swaps at random.
type worker struct {
	number int
	etcd   clientv3.KV
	book   *book
	meter  *meter
	random *rand.Rand

	written int
	// seen are the last values that this client saw, by key, in this round.
	round int
	seen  map[string]string
	// shaken is set while the outcome of the last write is unknown: until a read is
	// answered none more is made, so that each outage leaves few of them.
	shaken bool
}

func (w *worker) run(ctx context.Context) {
	tick := time.NewTicker(clientEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.turn()
		}
	}
}

// turn makes one operation. It is not cut short: what it asks for may be done.
func (w *worker) turn() {
	r := w.book.enter()
	if r.number != w.round {
		w.round = r.number
		clear(w.seen)
	}
	in := w.next(r)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	call := w.book.now()
	out, err := ask(ctx, w.etcd, in)
	back := w.book.now()
	switch {
	case err == nil:
		w.shaken = false
		w.learn(in, out)
	case in.do == read:
		w.book.leave(r, nil)
		return
	default:
		w.shaken = true
		out, back = response{unknown: true}, never
	}
	w.book.leave(r, &porcupine.Operation{ClientId: w.number, Input: in, Call: call, Output: out, Return: back})
}

func (w *worker) next(r *round) request {
	in := request{key: r.key(w.random.IntN(roundKeys)), do: read}
	if w.shaken {
		return in
	}
	in.do = []action{read, read, write, swap}[w.random.IntN(4)]
	if in.do != read {
		w.written++
		in.new = fmt.Sprintf("%d.%d", w.number, w.written)
	}
	if in.do == swap {
		in.old = w.seen[in.key]
	}
	return in
}

func (w *worker) learn(in request, out response) {
	switch {
	case in.do == write, out.done:
		w.seen[in.key] = in.new
		w.meter.acknowledged()
	default:
		w.seen[in.key] = out.value
	}
}

// ask does a request. After an error a write may have been done.
func ask(ctx context.Context, etcd clientv3.KV, in request) (response, error) {
	switch in.do {
	case write:
		_, err := etcd.Put(ctx, in.key, in.new)
		return response{done: true}, err
	case swap:
		return exchange(ctx, etcd, in)
	}
	got, err := etcd.Get(ctx, in.key)
	if err != nil {
		return response{}, err
	}
	return response{value: first(got)}, nil
}

func exchange(ctx context.Context, etcd clientv3.KV, in request) (response, error) {
	is := clientv3.Compare(clientv3.Value(in.key), "=", in.old)
	if in.old == "" {
		is = clientv3.Compare(clientv3.CreateRevision(in.key), "=", 0)
	}
	got, err := etcd.Txn(ctx).If(is).Then(clientv3.OpPut(in.key, in.new)).Else(clientv3.OpGet(in.key)).Commit()
	if err != nil {
		return response{}, err
	}
	if got.Succeeded {
		return response{done: true}, nil
	}
	return response{value: first((*clientv3.GetResponse)(got.Responses[0].GetResponseRange()))}, nil
}

func first(r *clientv3.GetResponse) string {
	if len(r.Kvs) == 0 {
		return ""
	}
	return string(r.Kvs[0].Value)
}
