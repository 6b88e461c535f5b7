package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	outageTimeout = 40 * time.Minute // with a control plane to build
	outageGoal    = 1.1
)

// outageRows measure the time without an API of a restore against the same by hand.
func outageRows(ctx context.Context) ([]Row, error) {
	var seconds struct{ Product, Hand []float64 }
	out, err := runProgram(ctx, "outage", outageTimeout)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(out, &seconds); err != nil {
		return nil, fmt.Errorf("read what test/outage prints: %w", err)
	}
	row := compare("restore, time without an API", "s", "by hand", lower, seconds.Product, seconds.Hand)
	row.Goal = outageGoal
	return []Row{row}, nil
}
