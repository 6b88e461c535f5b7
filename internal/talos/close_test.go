package talos

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestNothingIsLeftAfterClose(t *testing.T) {
	b := loadBundle(t)
	s := newServer(t, b, nil)
	silent := listen(t)
	for _, address := range []string{s.address, silent.Addr().String()} {
		n, err := NewNode(b, Options{Address: address, Timeouts: Timeouts{Dial: 50 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Version(t.Context()); (err == nil) != (address == s.address) {
			t.Errorf("%s: %v", address, err)
		}
		if err := n.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	within(t, "the end of the clients' goroutines", func() error {
		if left := clients(); left != "" {
			return errors.New(left)
		}
		return nil
	})
}

// clients are the goroutines of gRPC that are no server's.
func clients() string {
	all := make([]byte, 1<<20)
	all = all[:runtime.Stack(all, true)]
	var left []string
	for _, g := range strings.Split(string(all), "\n\n") {
		if strings.Contains(g, "google.golang.org/grpc") && !strings.Contains(g, "grpc.(*Server)") && !strings.Contains(g, "NewServerTransport") {
			left = append(left, g)
		}
	}
	return strings.Join(left, "\n\n")
}
