package etcd

import (
	"errors"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // a server may have closed it
	return l
}

// Whether a member refuses or nobody gets to it is told apart: the one says something of
// the member, the other does not.
func TestProbeTellsWhoRefuses(t *testing.T) {
	closed := listen(t)
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	silent := listen(t) // connections are taken by the kernel, and nobody talks
	open := listen(t)
	server := grpc.NewServer() // it knows no method of etcd
	go func() { _ = server.Serve(open) }()
	t.Cleanup(server.Stop)
	for _, tt := range []struct {
		name      string
		at        net.Listener
		unreached bool
	}{{"refused", closed, true}, {"silent", silent, true}, {"answers", open, false}} {
		_, err := Probe(t.Context(), Options{Endpoints: []string{"http://" + tt.at.Addr().String()}, CallTimeout: 2 * time.Second})
		if err == nil || errors.Is(err, ErrUnreached) != tt.unreached {
			t.Errorf("%s: got %v, want an error that is ErrUnreached: %t", tt.name, err, tt.unreached)
		}
	}
}
