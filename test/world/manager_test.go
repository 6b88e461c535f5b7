package world

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/process"
)

// TestAManagerThatEndsIsNotWaitedFor: the wait for readiness ends with the
// process, and the error quotes its log.
func TestAManagerThatEndsIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no configuration >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &World{Cluster: &cluster.Cluster{Dir: dir}, Binary: broken, actors: map[string]*cluster.Access{Controller: {}}}
	_, err := w.StartManager(t.Context(), "manager-0")
	if !errors.Is(err, process.ErrEnded) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("start: %v", err)
	}
}
