package talos

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// shared is what most tests here use: three control planes and a worker. A test that
// changes it brings it back.
var shared *Cluster

// startTimeout is long against the seconds that a start takes on a busy machine.
const startTimeout = 3 * time.Minute

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	began := time.Now()
	var err error
	if shared, err = Start(ctx, Options{ControlPlanes: 3, Workers: 1, Domain: "example.com"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("three control planes and a worker ready in %s\n", time.Since(began).Round(10*time.Millisecond))
	defer func() {
		if code != 0 {
			fmt.Fprintln(os.Stderr, shared.Logs())
			if kube.c != nil {
				fmt.Fprintln(os.Stderr, kube.c.Logs())
			}
		}
		for _, c := range []*Cluster{kube.c, shared} {
			if c == nil {
				continue
			}
			if err := c.Stop(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				code = 1
			}
		}
	}()
	return m.Run()
}
