package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	memberName = "main-0"
	timeRounds = 9
	peakRounds = 3
	// silence is how long the agent waits for a cluster that does not answer.
	silence = 100 * time.Millisecond
)

// sizes of the WAL, in MiB.
var sizes = []int64{64, 256, 1024}

// samples are of one path at one size of the WAL.
type samples struct {
	Path   string    `json:"path"`
	MiB    int64     `json:"mib"`
	Millis []float64 `json:"millis"`
	// Peak is anonymous memory, in MiB.
	Peak []float64 `json:"peak"`
}

// path is one way to a verdict.
type path struct {
	name string
	// members are those of the list; none for a cluster that does not answer.
	members         []uint64
	buried          bool
	action, witness string
}

var paths = []path{
	{"listed", []uint64{memberID, 2}, true, "start", "list"},
	{"absent", []uint64{2}, true, "refuse", "list"},
	{"no answer, tombstone", nil, true, "refuse", "tombstone"},
	{"no answer, no tombstone", nil, false, "start", "disk"},
}

// measure takes each path and the recipe in turn, round by round.
func measure(ctx context.Context, guard, dir string) ([]*samples, error) {
	db := filepath.Join(dir, "db")
	if err := writeDB(db); err != nil {
		return nil, err
	}
	var out []*samples
	for _, mib := range sizes {
		dataDir := filepath.Join(dir, fmt.Sprint(mib))
		if err := place(dataDir, db, mib<<20); err != nil {
			return nil, err
		}
		at, err := measureAt(ctx, guard, dataDir, db, mib)
		if err != nil {
			return nil, fmt.Errorf("with a WAL of %d MiB: %w", mib, err)
		}
		out = append(out, at...)
	}
	return out, nil
}

func measureAt(ctx context.Context, guard, dataDir, db string, mib int64) ([]*samples, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	read := &samples{Path: "recipe", MiB: mib}
	out := []*samples{read}
	for range paths {
		out = append(out, &samples{MiB: mib})
	}
	for round := range timeRounds + 1 { // the first warms up
		for i, p := range paths {
			if err := p.sample(ctx, guard, dataDir, db, round, out[i+1]); err != nil {
				return nil, fmt.Errorf("%s: %w", p.name, err)
			}
		}
		if err := read.add(ctx, round, nil, self, "recipe", filepath.Join(dataDir, "member", "wal")); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sample measures one check.
func (p path) sample(ctx context.Context, guard, dataDir, db string, round int, s *samples) error {
	s.Path = p.name
	if err := bury(db, p.buried); err != nil {
		return err
	}
	endpoint := "http://127.0.0.1:1" // where nothing listens
	if p.members != nil {
		served, stop, err := serveList(p.members...)
		if err != nil {
			return err
		}
		defer stop()
		endpoint = served
	}
	config, err := writeConfig(dataDir, endpoint)
	if err != nil {
		return err
	}
	return s.add(ctx, round, p.right, guard, "check", "-o", "json", "--config", config, "--name", memberName, "--list-timeout", silence.String())
}

// right fails if another verdict was measured.
func (p path) right(out []byte) error {
	var v struct{ Action, By, Reason string }
	if err := json.Unmarshal(out, &v); err != nil {
		return fmt.Errorf("read the verdict: %w", err)
	}
	if v.Action != p.action || v.By != p.witness {
		return fmt.Errorf("the verdict is %s by the %s: %s", v.Action, v.By, v.Reason)
	}
	return nil
}

// add runs a program for its time, and in some rounds once more for its memory.
func (s *samples) add(ctx context.Context, round int, right func([]byte) error, program string, args ...string) error {
	out, took, err := timed(ctx, program, args...)
	if err != nil {
		return fmt.Errorf("run %s %s: %w", program, args[0], err)
	}
	if right != nil {
		if err := right(out); err != nil {
			return err
		}
	}
	if round == 0 {
		return nil
	}
	s.Millis = append(s.Millis, float64(took.Microseconds())/1e3)
	if round > peakRounds {
		return nil
	}
	most, err := peak(ctx, program, args...)
	if err != nil {
		return err
	}
	s.Peak = append(s.Peak, float64(most)/(1<<20))
	return nil
}

func writeConfig(dataDir, endpoint string) (string, error) {
	config := filepath.Join(filepath.Dir(dataDir), "guard.yaml")
	text := fmt.Sprintf(`dataDir: %s
peerURLs: ["http://127.0.0.1:2380"]
clientURLs: ["http://127.0.0.1:2379"]
cluster:
  token: bench
  id: %x
  replicas: 3
  founders: [{name: %s, peerURLs: ["http://127.0.0.1:2380"]}]
  clientEndpoints: [%q]
`, dataDir, uint64(clusterID), memberName, endpoint)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("write the configuration: %w", err)
	}
	return config, nil
}
