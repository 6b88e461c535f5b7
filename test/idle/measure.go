package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/quorate/quorate/test/world"
)

// samples are what the manager costs with so many Etcds, window by window.
type samples struct {
	Etcds int `json:"etcds"`
	// Filled is how many seconds it took from the first creation until all were at rest.
	Filled float64 `json:"filled"`
	// Resident is memory in MiB, mapped files included, at the end of each window.
	Resident []float64 `json:"resident"`
	// CPU is in seconds, and Requests are those to the API server, both a minute.
	CPU      []float64 `json:"cpu"`
	Requests []float64 `json:"requests"`
	// Kinds are the requests of all windows by verb and resource.
	Kinds map[string]int `json:"kinds"`
}

const (
	// settle lets the garbage of the creation go, and each Etcd be looked at twice.
	settle = time.Minute
	// window is the time in which each idle Etcd is looked at once.
	window  = 30 * time.Second
	windows = 3
)

func (s *samples) measure(ctx context.Context, metrics, audit string) error {
	if err := pause(ctx, settle); err != nil {
		return err
	}
	s.Kinds = map[string]int{}
	for range windows {
		if err := s.window(ctx, metrics, audit); err != nil {
			return err
		}
	}
	return nil
}

func (s *samples) window(ctx context.Context, metrics, audit string) error {
	from, before, err := scrape(ctx, metrics)
	if err != nil {
		return err
	}
	if err := pause(ctx, window); err != nil {
		return err
	}
	to, after, err := scrape(ctx, metrics)
	if err != nil {
		return err
	}
	minutes := to.Sub(from).Minutes()
	requests, err := s.count(audit, from, to)
	if err != nil {
		return err
	}
	s.Resident = append(s.Resident, after["process_resident_memory_bytes"]/(1<<20))
	s.CPU = append(s.CPU, (after["process_cpu_seconds_total"]-before["process_cpu_seconds_total"])/minutes)
	s.Requests = append(s.Requests, float64(requests)/minutes)
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

var errMetrics = errors.New("the metrics cannot be read")

// scrape reads the process's own figures.
func scrape(ctx context.Context, address string) (time.Time, map[string]float64, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("%w: %w", errMetrics, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("%w: %w", errMetrics, err)
	}
	defer response.Body.Close()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	if err != nil {
		return time.Time{}, nil, fmt.Errorf("%w: %w", errMetrics, err)
	}
	out := map[string]float64{}
	for _, name := range []string{"process_resident_memory_bytes", "process_cpu_seconds_total"} {
		family := families[name]
		if family == nil || len(family.Metric) != 1 {
			return time.Time{}, nil, fmt.Errorf("%w: no %s", errMetrics, name)
		}
		out[name] = family.Metric[0].GetGauge().GetValue() + family.Metric[0].GetCounter().GetValue()
	}
	return time.Now(), out, nil
}

// auditPolicy records the manager's requests alone, when they are answered.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted, Panic]
rules:
- {level: Metadata, users: ["` + world.ControllerUser + `"]}
- {level: None}
`

// count adds the requests of a time to those by kind, and answers their number.
func (s *samples) count(audit string, from, to time.Time) (int, error) {
	file, err := os.Open(audit)
	if err != nil {
		return 0, fmt.Errorf("read the audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	total := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e struct {
			Verb           string
			ObjectRef      struct{ Resource, Subresource string }
			StageTimestamp time.Time
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			continue // the last line may be half written
		}
		if e.StageTimestamp.After(from) && !e.StageTimestamp.After(to) {
			total++
			s.Kinds[e.Verb+" "+e.ObjectRef.Resource+e.ObjectRef.Subresource]++
		}
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("read the audit log: %w", err)
	}
	return total, nil
}
