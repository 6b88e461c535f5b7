// Package product builds the product's programs for tests and demonstration.
package product

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/quorate/quorate/test/cluster"
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

// Wrapped builds quorate and quorate-guard so that they can run in the pods of
// package node, and answers their folder.
func Wrapped(ctx context.Context, progress io.Writer) (string, error) {
	return wrapped(ctx, progress)
}

// WrappedEtcd answers the folder of an etcd server of this minor, such as 3.7, that
// can run in the pods of package node. What is missing is built.
func WrappedEtcd(ctx context.Context, progress io.Writer, minor string) (string, error) {
	return wrapped(ctx, progress, "--etcd", minor)
}

func wrapped(ctx context.Context, progress io.Writer, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	builder := filepath.Join(root, "test", "tools", "build")
	dir, err := cluster.GoCommand(ctx, progress, append([]string{"-C", builder, "run", ".", "--wrapped"}, args...)...)
	if err != nil {
		return "", fmt.Errorf("build programs that run in pods: %w", err)
	}
	return dir, nil
}
