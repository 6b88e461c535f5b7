package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/test/cluster"
)

// What all tests share: a control plane and its nodes.
var (
	nodes  *Kubelets
	client kubernetes.Interface
)

// setupTimeout bounds a build from cold caches.
const setupTimeout = time.Hour

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), setupTimeout)
	defer cancel()
	c, err := cluster.Start(ctx, cluster.Options{ControllerManager: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	client = c.Client()
	defer func() {
		if err := c.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	programs, err := Wrapped(ctx, os.Stderr)
	if err == nil {
		nodes, err = Start(ctx, Options{Config: c.AdminConfig(), Dir: filepath.Join(c.Dir, "nodes"), Programs: withShell(programs), ProbeEvery: time.Second})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := nodes.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

// withShell lets containers be small scripts too.
func withShell(programs Programs) Programs {
	return func(image string, command []string) (string, error) {
		if len(command) > 0 && command[0] == "/bin/sh" {
			return command[0], nil
		}
		return programs(image, command)
	}
}
