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

// Build makes bin/world/NAME of cmd/NAME, so that a test never runs yesterday's
// program. The flags are the plain ones: what it was compiled from serves again,
// and bin/NAME stays what `make build` made of it.
func Build(ctx context.Context, root, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	binary := filepath.Join(root, "bin", "world", name)
	out, err := exec.CommandContext(ctx, "go", "-C", root, "build", "-o", binary, "./cmd/"+name).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", binary, err, bytes.TrimSpace(out))
	}
	return binary, nil
}
