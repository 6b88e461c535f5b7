package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"
)

// playedKV has keys, and a revision that rises with each question.
type playedKV struct {
	etcdserverpb.UnimplementedKVServer
	mu    sync.Mutex
	keys  []string
	asked []*etcdserverpb.RangeRequest
	fails error
}

func (p *playedKV) Range(_ context.Context, r *etcdserverpb.RangeRequest) (*etcdserverpb.RangeResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r)
	if p.fails != nil && len(p.asked) > 1 {
		return nil, p.fails
	}
	answer := &etcdserverpb.RangeResponse{Header: &etcdserverpb.ResponseHeader{Revision: 40 + int64(len(p.asked))}}
	for _, k := range p.keys {
		if k < string(r.Key) || k >= string(r.RangeEnd) {
			continue
		}
		if int64(len(answer.Kvs)) == r.Limit {
			answer.More = true
			break
		}
		answer.Kvs = append(answer.Kvs, &mvccpb.KeyValue{Key: []byte(k)})
	}
	return answer, nil
}

func playKV(t *testing.T, p *playedKV) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	etcdserverpb.RegisterKVServer(server, p)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	c, err := New(t.Context(), Options{Endpoints: []string{"http://" + listener.Addr().String()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Two and a half pages: all of them once, at one revision, without values.
func TestKeys(t *testing.T) {
	p := &playedKV{keys: []string{"/other/a"}}
	for i := range keysPage * 5 / 2 {
		p.keys = append(p.keys, fmt.Sprintf("/registry/pods/p%05d", i))
	}
	p.keys = append(p.keys, "/registrz")
	var got []string
	for key, err := range playKV(t, p).Keys(t.Context(), "/registry/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, key)
	}
	if want := p.keys[1 : len(p.keys)-1]; !slices.Equal(got, want) {
		t.Errorf("%d keys, want %d", len(got), len(want))
	}
	if len(p.asked) != 3 || p.asked[0].Revision != 0 || p.asked[1].Revision != 41 || p.asked[2].Revision != 41 {
		t.Errorf("asked %v", p.asked)
	}
	for _, r := range p.asked {
		if !r.KeysOnly || r.Limit != keysPage || r.Serializable {
			t.Errorf("asked %v", r)
		}
	}
}

// An error ends the list, and so does whoever has seen enough.
func TestKeysEnd(t *testing.T) {
	p := &playedKV{fails: errors.New("the revision is compacted")}
	for i := range keysPage + 1 {
		p.keys = append(p.keys, fmt.Sprintf("/registry/pods/p%05d", i))
	}
	c := playKV(t, p)
	n := 0
	var last error
	for _, err := range c.Keys(t.Context(), "/registry/") {
		if last = err; err == nil {
			n++
		}
	}
	if n != keysPage || last == nil || !strings.HasPrefix(last.Error(), "list the keys of etcd: ") || !strings.Contains(last.Error(), "the revision is compacted") {
		t.Errorf("%d keys, then %v", n, last)
	}
	p.asked = nil
	for range c.Keys(t.Context(), "/registry/") {
		break
	}
	if len(p.asked) != 1 {
		t.Errorf("asked %d times", len(p.asked))
	}
}
