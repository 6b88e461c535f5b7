package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

const (
	patchTimeout = 30 * time.Minute // with a control plane to build
	patchGrace   = 2 * time.Minute  // to stop it
)

// How many patches make a round, by percentile. A median is steady over 100; of
// 500 the five slowest lie above the 99th, fewer would make it the maximum. What
// the sides have in common, above all a busy machine, is in both parts of a
// round's ratio and cancels out.
var patchRounds = []struct{ p, size int }{{50, 100}, {99, 500}}

// patchGoals are of the median.
var patchGoals = map[string]float64{"webhook that allows everything": 1.05}

// latencies are what test/patch prints of one side.
type latencies struct {
	Name   string    `json:"name"`
	Micros []float64 `json:"micros"`
}

// patchRows measure a PATCH at a real API server, by what admits it.
func patchRows(ctx context.Context) ([]Row, error) {
	sides, err := patched(ctx)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, r := range patchRounds {
		ours := byRound(sides[0].Micros, r.size, r.p)
		for _, other := range sides[1:] {
			row := compare(fmt.Sprintf("PATCH, p%d", r.p), "µs", other.Name, lower, ours, byRound(other.Micros, r.size, r.p))
			if r.p == 50 {
				row.Goal = patchGoals[other.Name]
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// byRound is the percentile of each whole round.
func byRound(micros []float64, size, p int) []float64 {
	var values []float64
	for round := range slices.Chunk(micros, size) {
		if len(round) == size {
			values = append(values, percentile(round, p))
		}
	}
	return values
}

// patched runs the measuring program, which is of another module, and answers
// its sides, ours first.
func patched(ctx context.Context) ([]latencies, error) {
	out, err := runProgram(ctx, "patch", patchTimeout)
	if err != nil {
		return nil, err
	}
	var sides []latencies
	if err := json.Unmarshal(out, &sides); err != nil {
		return nil, fmt.Errorf("read what test/patch prints: %w", err)
	}
	return sides, nil
}
