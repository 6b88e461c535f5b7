package s3

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/store"
)

var (
	server *Server
	// folders counts the bucket's folders, so that each test has one of its own.
	folders atomic.Int64
)

func TestMain(m *testing.M) {
	if os.Getenv(memoryVariable) != "" {
		os.Exit(memoryChild())
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	dir, err := os.MkdirTemp("", "quorate-s3-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary, err := Binary(ctx, os.Stderr)
	if err == nil {
		server, err = Start(ctx, binary, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = server.Stop() }()
	return m.Run()
}

func folder() string { return "of-test/" + strconv.FormatInt(folders.Add(1), 10) }

// impatient are options for a store that has faults.
func impatient(endpoint string) store.Options {
	o := server.Options(folder())
	o.Endpoint, o.Timeout, o.Backoff, o.Attempts = endpoint, 2*time.Second, 20*time.Millisecond, 3
	return o
}

func open(t *testing.T, o store.Options) store.Store {
	t.Helper()
	s, err := store.NewS3(o)
	if err != nil {
		t.Fatalf("make the store: %v", err)
	}
	return s
}

func proxy(t *testing.T, tls bool) *Proxy {
	t.Helper()
	p, err := NewProxy(server.Endpoint, tls)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}
