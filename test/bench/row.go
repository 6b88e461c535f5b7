package main

import (
	"fmt"
	"slices"
	"time"
)

// Row is one comparison, as bin/bench.json has it.
type Row struct {
	Name    string  `json:"name"`
	Value   float64 `json:"value"` // median of ours
	Unit    string  `json:"unit"`
	Against string  `json:"against"`
	Ratio   float64 `json:"ratio"` // median of ours by theirs, round by round
	// Spread is the ratio's tenth and ninetieth percentile.
	Spread [2]float64 `json:"spread"`
	// Better says which way the ratio should go.
	Better string `json:"better"`
	// Goal is the ratio to reach; 0 is none.
	Goal float64 `json:"goal,omitempty"`
}

const (
	lower  = "lower"
	higher = "higher"
)

func (r Row) goal() string {
	if r.Goal == 0 {
		return "-"
	}
	reached, sign := r.Ratio <= r.Goal, "at most"
	if r.Better == higher {
		reached, sign = r.Ratio >= r.Goal, "at least"
	}
	word := "missed"
	if reached {
		word = "reached"
	}
	return fmt.Sprintf("%s %.2f: %s", sign, r.Goal, word)
}

const (
	rounds    = 31
	roundTime = 20 * time.Millisecond
)

// side is one way of doing a thing.
type side struct {
	name string
	do   func() error
}

// timed measures ours against each other side, in turn and round by round, and
// gives microseconds an operation. goals are by the other side's name.
func timed(name string, ours side, others []side, goals map[string]float64) ([]Row, error) {
	sides := append([]side{ours}, others...)
	samples := make([][]float64, len(sides))
	for round := range rounds + 1 {
		for i, s := range sides {
			took, err := perOperation(s.do)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			if round > 0 { // the first warms up
				samples[i] = append(samples[i], took)
			}
		}
	}
	var rows []Row
	for i, other := range others {
		row := compare(name, "µs", other.name, lower, samples[0], samples[i+1])
		row.Goal = goals[other.name]
		rows = append(rows, row)
	}
	return rows, nil
}

func perOperation(do func() error) (float64, error) {
	began, count := time.Now(), 0
	for time.Since(began) < roundTime {
		if err := do(); err != nil {
			return 0, err
		}
		count++
	}
	return float64(time.Since(began).Nanoseconds()) / 1e3 / float64(count), nil
}

func compare(name, unit, against, better string, ours, theirs []float64) Row {
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / theirs[i]
	}
	return Row{
		Name: name, Value: percentile(ours, 50), Unit: unit, Against: against, Better: better,
		Ratio: percentile(ratios, 50), Spread: [2]float64{percentile(ratios, 10), percentile(ratios, 90)},
	}
}

// percentile is by the nearest rank.
func percentile(values []float64, p int) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)*p/100]
}
