// Package product builds the product's programs for tests and demonstration.
package product

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// buildTimeout bounds a build from a cold cache.
const buildTimeout = 15 * time.Minute

// Root is the repository's folder: the parent of the test module's.
func Root(ctx context.Context) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return filepath.Dir(filepath.Dir(string(bytes.TrimSpace(module)))), nil
}

// companions are the programs that another starts from its own folder.
var companions = map[string]string{"quorate-guard": "quorate-guard-reader"}

// Build makes bin/world/NAME of cmd/NAME, so that a test never runs yesterday's
// program. The flags are the plain ones: what it was compiled from serves again,
// and bin/NAME stays what `make build` made of it. What NAME starts is built beside it.
func Build(ctx context.Context, root, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	world := filepath.Join(root, "bin", "world")
	args := []string{"-C", root, "build", "-o", world + string(filepath.Separator), "./cmd/" + name}
	if beside, ok := companions[name]; ok {
		args = append(args, "./cmd/"+beside)
	}
	if out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	return filepath.Join(world, name), nil
}
