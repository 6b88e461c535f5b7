package machines

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/quorate/quorate/test/world"
)

// The gate has a replica of its own, so that it serves while the one with the
// controllers is killed.
var (
	gate        *world.Manager
	controllers *world.Manager
	started     atomic.Int32
)

// divide starts the gate's replica beside the one with the controllers.
func divide(ctx context.Context) error {
	controllers = shared.Managers()[0]
	replica, err := shared.StartManager(ctx, "gate", "--gate-only=true")
	if err != nil {
		return err
	}
	gate = replica
	shared.SetManagers(gate)
	return nil
}

// endControllers ends what divide has taken out of the world.
func endControllers() error {
	if controllers == nil {
		return nil
	}
	return controllers.Kill()
}

// killControllers ends them at once. It is for tests that are not parallel.
func killControllers(t *testing.T) {
	t.Helper()
	must(t, controllers.Kill())
	controllers = nil
}

// startControllers starts them, unless they run.
func startControllers(t *testing.T) {
	t.Helper()
	if controllers != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit) // a test's end needs them too
	defer cancel()
	m, err := shared.StartManager(ctx, fmt.Sprintf("controllers-%d", started.Add(1)))
	must(t, err)
	controllers = m
}
