package main

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	warmUp = 200
	// patches is how many each side gets.
	patches = 4_000
)

// measure lets the sides patch one after the other, in an order that is drawn
// anew each time: whatever a side leaves behind for its successor, all get it.
func measure(ctx context.Context, sides []*side) error {
	for n := range warmUp + patches {
		for _, i := range rand.Perm(len(sides)) {
			began := time.Now()
			if err := sides[i].patch(ctx); err != nil {
				return err
			}
			if took := time.Since(began); n >= warmUp {
				sides[i].Micros = append(sides[i].Micros, float64(took.Nanoseconds())/1e3)
			}
		}
	}
	return nil
}
