package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	idleTimeout = 40 * time.Minute // with a control plane to build
	// idleMiB is what the manager may need for the most Etcds.
	idleMiB = 200
)

// idleSamples are what test/idle prints of one number of Etcds.
type idleSamples struct {
	Etcds    int            `json:"etcds"`
	Filled   float64        `json:"filled"`
	Resident []float64      `json:"resident"`
	CPU      []float64      `json:"cpu"`
	Requests []float64      `json:"requests"`
	Kinds    map[string]int `json:"kinds"`
}

// idleRows measure what the manager costs while many Etcds, all with spec.replicas 0
// and so without pods, have nothing to do, and how that grows with their number.
func idleRows(ctx context.Context) ([]Row, error) {
	all, err := idle(ctx)
	if err != nil {
		return nil, err
	}
	few, many := all[0], all[len(all)-1]
	var rows []Row
	for _, s := range all {
		name := fmt.Sprintf("idle, %d Etcds without pods, memory", s.Etcds)
		rows = append(rows, against(name, "MiB", s.Resident, idleMiB))
	}
	fewer := fmt.Sprintf("%d Etcds", few.Etcds)
	linear := float64(many.Etcds) / float64(few.Etcds)
	for _, m := range []struct {
		what, unit   string
		ours, theirs []float64
		goal         float64
	}{
		{"memory", "MiB", many.Resident, few.Resident, 0},
		{"CPU", "s/min", many.CPU, few.CPU, linear},
		{"requests", "1/min", many.Requests, few.Requests, linear},
	} {
		row := compare(fmt.Sprintf("idle, %d Etcds without pods, %s", many.Etcds, m.what), m.unit, fewer, lower, m.ours, m.theirs)
		row.Goal = m.goal
		rows = append(rows, row)
	}
	return rows, nil
}

// idle builds the measuring program, which is of another module, and runs it.
func idle(ctx context.Context) ([]idleSamples, error) {
	out, err := runProgram(ctx, "idle", idleTimeout)
	if err != nil {
		return nil, err
	}
	var all []idleSamples
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, fmt.Errorf("read what test/idle prints: %w", err)
	}
	return all, nil
}
