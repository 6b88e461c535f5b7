package node

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// role is what a container is in its pod.
type role int

const (
	initial role = iota // runs to its end before the others start
	sidecar             // an init container that stays
	member              // one of the pod's containers
)

// container is one of a pod, over all its starts.
type container struct {
	w    *worker
	spec corev1.Container
	role role
	dir  string

	mu       sync.Mutex
	child    *child // the last one; nil before the first start
	logFrom  int64  // where in the log it began
	state    corev1.ContainerState
	last     corev1.ContainerState
	restarts int32
	started  bool // its startup probe, if any, has succeeded
	ready    bool
	done     bool // it ended for good
}

// backoff is how long a container rests before it starts again: far shorter than a
// kubelet's 10 s to 5 min, for tests wait for it.
const (
	firstBackoff = 200 * time.Millisecond
	longestRest  = 5 * time.Second
	// wellAfter is how long a container runs for its backoff to begin anew.
	wellAfter = 10 * time.Second
)

func newContainer(w *worker, spec corev1.Container, r role) *container {
	c := &container{w: w, spec: spec, role: r, dir: filepath.Join(w.dir, "containers", spec.Name)}
	why := "ContainerCreating"
	if r == member && len(w.pod.Spec.InitContainers) > 0 || r != member {
		why = "PodInitializing"
	}
	c.state.Waiting = &corev1.ContainerStateWaiting{Reason: why}
	return c
}

// run keeps the container running until it ends for good or the context ends; what
// runs then is left to terminate. It answers whether the container has succeeded.
func (c *container) run(ctx context.Context) bool {
	rest := firstBackoff
	for ctx.Err() == nil {
		if !c.w.k.heard(ctx, c.w.pod.Spec.NodeName) {
			return false
		}
		began := time.Now()
		code, ran := c.once(ctx)
		if ctx.Err() != nil {
			return ran && code == 0
		}
		if ran && !c.again(code) {
			c.set(func() { c.done = true })
			return code == 0
		}
		if ran && time.Since(began) > wellAfter {
			rest = firstBackoff
		}
		if ran {
			c.rest(rest)
		}
		pause(ctx, rest)
		rest = min(2*rest, longestRest)
	}
	return false
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// again tells whether a container that ended with this code is started again.
func (c *container) again(code int) bool {
	switch policy := c.w.pod.Spec.RestartPolicy; {
	case c.role == sidecar:
		return true
	case c.role == initial:
		return code != 0 && policy != corev1.RestartPolicyNever
	case policy == corev1.RestartPolicyNever:
		return false
	default:
		return code != 0 || policy == corev1.RestartPolicyAlways
	}
}

// once starts the program, with its probes, and waits for its end; false if it could
// not start, which the state tells.
func (c *container) once(ctx context.Context) (code int, ran bool) {
	program, err := c.launch(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.wait(err)
		}
		return 0, false
	}
	ending, cancel := context.WithCancel(c.w.k.ctx)
	defer cancel()
	var probes sync.WaitGroup
	probes.Go(func() { c.probe(ending, program) })
	<-program.Ended()
	cancel()
	probes.Wait()
	code = program.exitCode()
	c.ended(program, code)
	return code, true
}

func (c *container) launch(ctx context.Context) (*child, error) {
	cmd, err := c.command()
	if err != nil {
		return nil, err
	}
	// Under the lock, so that whoever ends the pod sees either no process or this one.
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if info, err := os.Stat(cmd.log); err == nil {
		c.logFrom = info.Size()
	}
	program, err := cmd.start()
	if err != nil {
		return nil, err
	}
	if c.child != nil {
		c.restarts++
	}
	c.child = program
	c.state = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now()}}
	c.started, c.ready = c.spec.StartupProbe == nil, false
	if c.started && c.spec.ReadinessProbe == nil {
		c.ready = c.role != initial
	}
	c.w.k.bell.ring()
	return program, nil
}

// terminate asks the program to end, and kills it when the context ends first.
func (c *container) terminate(ctx context.Context) {
	c.mu.Lock()
	program := c.child
	c.mu.Unlock()
	if program == nil || program.Alive() != nil {
		return
	}
	if ctx.Err() == nil {
		// One that has ended in between is what is wanted.
		_ = program.Signal(syscall.SIGTERM)
	}
	select {
	case <-program.Ended():
	case <-ctx.Done():
		_ = program.everyone(syscall.SIGKILL)
		<-program.Ended()
	}
}
