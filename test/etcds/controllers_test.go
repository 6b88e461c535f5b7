package etcds

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/quorate/quorate/test/world"
)

// The gate has a replica of its own, so that it serves while the one with the
// controllers is stopped or killed.
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

// endControllers ends what divide has taken out of the world
func endControllers() error {
	if controllers == nil {
		return nil
	}
	return controllers.Kill()
}

// withoutControllers runs a part of a test while no controller is at work. It is for
// tests that are not parallel.
func withoutControllers(t *testing.T, part func()) {
	t.Helper()
	must(t, controllers.Stop())
	controllers = nil
	defer restartControllers(t)
	part()
}

func restartControllers(t *testing.T) {
	t.Helper()
	m, err := shared.StartManager(t.Context(), fmt.Sprintf("controllers-%d", started.Add(1)))
	must(t, err)
	controllers = m
}
