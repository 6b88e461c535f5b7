package node

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// faults are what a test has switched on.
type faults struct {
	unschedulable func(*corev1.Pod) string
	held          func(*corev1.Pod) bool
	silent        map[string]bool
}

func newFaults() faults {
	return faults{
		unschedulable: func(*corev1.Pod) string { return "" },
		held:          func(*corev1.Pod) bool { return false },
		silent:        map[string]bool{},
	}
}

// What a fault cannot be done to.
var (
	ErrNoPod       = errors.New("no such pod runs here")
	ErrNoContainer = errors.New("the pod has no such container that runs")
	ErrNoDisk      = errors.New("the claim has no disk")
	ErrDiskInUse   = errors.New("a pod that uses the disk is not gone")
)

func (k *Kubelets) fault(change func(*faults)) {
	k.mu.Lock()
	change(&k.faults)
	k.mu.Unlock()
	k.bell.ring()
}

// HoldScheduling gives no node to a pod that why answers a text for: that is the
// message of its condition PodScheduled. Nil ends it. why may be called at any time,
// from other goroutines.
func (k *Kubelets) HoldScheduling(why func(*corev1.Pod) string) {
	if why == nil {
		why = newFaults().unschedulable
	}
	k.fault(func(f *faults) { f.unschedulable = why })
}

// HoldPod lets pods that hold answers true for wait before anything of them starts.
// Nil ends it. What runs already stays.
func (k *Kubelets) HoldPod(hold func(*corev1.Pod) bool) {
	if hold == nil {
		hold = newFaults().held
	}
	k.fault(func(f *faults) { f.held = hold })
}

// Silence cuts a node off: it starts and ends nothing, reports nothing, and its Lease
// runs out. What runs there goes on.
func (k *Kubelets) Silence(node string) { k.fault(func(f *faults) { f.silent[node] = true }) }

// Unsilence lets the node catch up.
func (k *Kubelets) Unsilence(node string) { k.fault(func(f *faults) { delete(f.silent, node) }) }

func (k *Kubelets) silent(node string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.faults.silent[node]
}

// heard waits until the node is not silent; false if the context ends.
func (k *Kubelets) heard(ctx context.Context, node string) bool {
	return k.bell.until(ctx, func() bool { return !k.silent(node) })
}

func (k *Kubelets) held(pod *corev1.Pod) string {
	k.mu.Lock()
	why := k.faults.unschedulable
	k.mu.Unlock()
	return why(pod)
}

func (k *Kubelets) waitsToStart(pod *corev1.Pod) bool {
	k.mu.Lock()
	hold := k.faults.held
	k.mu.Unlock()
	return hold(pod)
}

// Cordon keeps further pods off a node.
func (k *Kubelets) Cordon(ctx context.Context, node string) error { return k.cordon(ctx, node, true) }

// Uncordon takes that back.
func (k *Kubelets) Uncordon(ctx context.Context, node string) error {
	return k.cordon(ctx, node, false)
}

func (k *Kubelets) cordon(ctx context.Context, node string, on bool) error {
	patch := fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on)
	if _, err := k.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("cordon or uncordon node %s: %w", node, err)
	}
	return nil
}

// KillContainer kills what runs of a container (SIGKILL); it starts again.
func (k *Kubelets) KillContainer(namespace, pod, container string) error {
	return k.signal(namespace, pod, container, syscall.SIGKILL)
}

// Halt stops a container's process where it is (SIGSTOP): its sockets stay.
func (k *Kubelets) Halt(namespace, pod, container string) error {
	return k.signal(namespace, pod, container, syscall.SIGSTOP)
}

// Resume lets a halted container go on.
func (k *Kubelets) Resume(namespace, pod, container string) error {
	return k.signal(namespace, pod, container, syscall.SIGCONT)
}

func (k *Kubelets) signal(namespace, pod, name string, signal syscall.Signal) error {
	w, err := k.worker(namespace, pod)
	if err != nil {
		return err
	}
	for _, c := range w.containers() {
		if c.spec.Name == name && c.running() != nil {
			return c.running().everyone(signal)
		}
	}
	return fmt.Errorf("%s of %s/%s: %w", name, namespace, pod, ErrNoContainer)
}

// KillPod kills all that runs of a pod at once, as a node's sudden restart does; its
// containers start again without init containers.
func (k *Kubelets) KillPod(namespace, pod string) error {
	w, err := k.worker(namespace, pod)
	if err != nil {
		return err
	}
	for _, c := range w.containers() {
		if program := c.running(); program != nil {
			_ = program.everyone(syscall.SIGKILL) // it may have ended by itself just now
		}
	}
	return nil
}
