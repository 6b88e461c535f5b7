package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// buildTimeout bounds a build of the control plane from cold caches.
const buildTimeout = 45 * time.Minute

// errOutsideModule says that the working directory is not in the test module,
// so that its tools cannot be found.
var errOutsideModule = errors.New("the working directory is not inside the Go module test/")

// FindAssets answers the folder of the binaries: KUBEBUILDER_ASSETS, or what
// the builder of the repository makes or reuses for this Kubernetes minor, the newest
// one if it is empty. progress hears of a build.
func FindAssets(ctx context.Context, version string, progress io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, buildTimeout)
	defer cancel()
	module, err := GoCommand(ctx, io.Discard, "env", "GOMOD")
	if err != nil {
		return "", fmt.Errorf("find the control plane's binaries: %w", err)
	}
	builder := filepath.Join(filepath.Dir(module), "tools", "build")
	if _, err := os.Stat(builder); err != nil {
		return "", fmt.Errorf("find the control plane's binaries: %w: %w", errOutsideModule, err)
	}
	args := []string{"-C", builder, "run", "."}
	if version != "" {
		args = append(args, "--version", version)
	}
	dir, err := GoCommand(ctx, progress, args...)
	if err != nil {
		return "", fmt.Errorf("find or build the control plane's binaries (make tools does it alone): %w", err)
	}
	return dir, nil
}

// GoCommand runs the go command and answers what it printed, without the last line
// break. progress hears its standard error; a terminal is passed on as it is.
func GoCommand(ctx context.Context, progress io.Writer, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(&said, progress)
	if file, ok := progress.(*os.File); ok {
		cmd.Stderr = file // as it is, so that the builder sees a terminal
	}
	// The builder holds the pipe when go itself is gone.
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	return string(bytes.TrimSpace(out)), nil
}
