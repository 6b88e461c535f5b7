package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Result is what one run of kubectl answered.
type Result struct {
	Stdout, Stderr string
	Code           int // exit code
}

// kubectlTimeout bounds one run of kubectl when its context has no deadline.
const kubectlTimeout = time.Minute

// Kubectl runs the kubectl of the control plane's own version with a
// kubeconfig. A refusal by the API server is no error here but an exit code;
// an error means that kubectl did not run to its end.
func (c *Cluster) Kubectl(ctx context.Context, kubeconfig string, args ...string) (Result, error) {
	return c.KubectlInput(ctx, kubeconfig, "", args...)
}

// KubectlInput is Kubectl with something on its standard input, for "-f -".
func (c *Cluster) KubectlInput(ctx context.Context, kubeconfig, stdin string, args ...string) (Result, error) {
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel := context.WithTimeout(ctx, kubectlTimeout)
		defer cancel()
		ctx = bounded
	}
	cmd := exec.CommandContext(ctx, filepath.Join(c.assets, "kubectl"), args...)
	cmd.Stdin = strings.NewReader(stdin)
	// Nothing of the person's own: no ~/.kube, no preferences, no other cluster.
	cmd.Env = []string{
		"KUBECONFIG=" + kubeconfig, "HOME=" + c.Dir, "PATH=" + os.Getenv("PATH"),
		"KUBECACHEDIR=" + filepath.Join(c.Dir, "run", "kubectl-cache"),
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	result := Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return result, fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), context.Cause(ctx), result.Stderr)
	case err != nil && !errors.As(err, &exit):
		return result, fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
	}
	return result, nil
}
