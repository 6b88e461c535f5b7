package world

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"
)

// buildTimeout bounds the build of the manager from a cold cache.
const buildTimeout = 15 * time.Minute

// Root is the repository's folder: the parent of the test module's.
func Root(ctx context.Context) (string, error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return filepath.Dir(filepath.Dir(string(bytes.TrimSpace(module)))), nil
}

// build makes bin/world/quorate, so that a test never runs yesterday's gate. The
// flags are the plain ones: what this program was compiled from serves again,
// and bin/quorate stays what `make build` made of it.
func build(ctx context.Context, root string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	binary := filepath.Join(root, "bin", "world", "quorate")
	out, err := exec.CommandContext(ctx, "go", "-C", root, "build", "-o", binary, "./cmd/quorate").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build %s: %w: %s", binary, err, bytes.TrimSpace(out))
	}
	return binary, nil
}
