// Package parity has a real API server judge generated pairs of objects, with
// one layer of the gate on at a time, and compares what the layers say: with each
// other, and with the same layer in process. Every request is a dry run, so that
// the objects stored once serve each layer. QUORATE_TEST_KUBERNETES=1.34 runs the
// same on the oldest version.
package parity

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/quorate/quorate/test/world"
)

// shared is the world of all tests. No layer is on at first.
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
	shared, err = world.Start(context.Background(), world.Options{Without: world.AllLayers})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.Stop()) }()
	return m.Run(), nil
}
