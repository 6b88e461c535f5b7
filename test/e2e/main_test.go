// Package e2e tests the gate as people meet it: the installed product on a real
// control plane, through kubectl and clients. All tests share one world, each in
// a namespace of its own; those that stop managers or switch layers put things
// back. QUORATE_TEST_KUBERNETES=1.34 runs the same on the oldest version.
package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// shared is the world of all tests.
var shared *world.World

func TestMain(m *testing.M) {
	log.SetLogger(log.Log.WithSink(log.NullLogSink{}))
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	shared, err = world.Start(context.Background(), world.Options{Cluster: cluster.Options{ControllerManager: true}})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	return m.Run(), nil
}
