package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	sealingTimeout = 20 * time.Minute
	sealingGoal    = 0.9
	sealingMiB     = 64
)

// sealingSamples are what test/sealing prints: seconds, and MiB.
type sealingSamples struct {
	MiB                                float64
	Seal, SealAge, SealAlone, SealPeak []float64
	Verify, VerifyAge, VerifyPeak      []float64
}

// sealingRows measure how a snapshot is encrypted into a store and verified there,
// against pipelines of age's program and sha256sum that give the same.
func sealingRows(ctx context.Context) ([]Row, error) {
	out, err := runProgram(ctx, "sealing", sealingTimeout)
	if err != nil {
		return nil, err
	}
	var s sealingSamples
	if err := json.Unmarshal(out, &s); err != nil {
		return nil, fmt.Errorf("read what test/sealing prints: %w", err)
	}
	const seal, verify = "snapshot, encrypt and upload", "snapshot, download and verify"
	rate := func(seconds []float64) []float64 {
		rates := make([]float64, len(seconds))
		for i, t := range seconds {
			rates[i] = s.MiB / t
		}
		return rates
	}
	var rows []Row
	for _, side := range []struct {
		name, against string
		ours, theirs  []float64
		goal          float64
	}{
		{seal, "age and sha256sum", s.Seal, s.SealAge, sealingGoal},
		{seal, "age without a sum", s.Seal, s.SealAlone, 0},
		{verify, "age and sha256sum", s.Verify, s.VerifyAge, sealingGoal},
	} {
		row := compare(side.name, "MiB/s", side.against, higher, rate(side.ours), rate(side.theirs))
		row.Goal = side.goal
		rows = append(rows, row)
	}
	return append(rows, against(seal, "MiB", s.SealPeak, sealingMiB), against(verify, "MiB", s.VerifyPeak, sealingMiB)), nil
}
