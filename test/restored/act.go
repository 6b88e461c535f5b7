package restored

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node"
	sim "github.com/quorate/quorate/test/talos"
)

// Manager is the pod of the manager that was seen last, the machine that it is on, and what
// runs it there.
func (w *World) Manager() (pod, machine string, kubelet *node.Kubelets, err error) {
	r := w.replicas.last()
	if r.name == "" {
		return "", "", nil, fmt.Errorf("look for the manager: %w", errNotYet)
	}
	kubelet, err = w.Talos.Node(r.machine).Pods()
	return r.name, r.machine, kubelet, err
}

// KillContainer kills the manager's container (SIGKILL). It is started again, with the
// folder of its jobs as it was.
func (w *World) KillContainer() error {
	pod, _, kubelet, err := w.Manager()
	if err != nil {
		return err
	}
	return kubelet.KillContainer(System, pod, Container)
}

// ManagerRuns tells whether a process of the manager runs in the pod that was seen last,
// whatever the API says.
func (w *World) ManagerRuns() bool {
	pod, _, kubelet, err := w.Manager()
	return err == nil && kubelet.Running(System, pod)
}

// DeletePod deletes the manager's pod through the API, and with it the folder of its jobs.
// Another one takes its place on the same machine, or on another one after MoveManager.
func (w *World) DeletePod(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: System, Name: w.replicas.last().name}}
	if err := w.Client.Delete(ctx, p, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete the manager's pod: %w", err)
	}
	return nil
}

// MoveManager lets the next pod of the manager be on that machine.
func (w *World) MoveManager(machine string) { w.replicas.to(machine) }

// ManagerLog is all that the container of the pod that was seen last has logged, over its
// starts, or the manager beside the cluster.
func (w *World) ManagerLog() string {
	if w.outside != nil {
		return w.outside.logs()
	}
	pod, _, kubelet, err := w.Manager()
	if err != nil {
		return err.Error()
	}
	return kubelet.Logs(System, pod, Container)
}

// Away waits until no API server answers.
func (w *World) Away(ctx context.Context) error {
	return cluster.Until(ctx, "the API servers to be away", func(ctx context.Context) error {
		if w.ask(ctx) == nil {
			return fmt.Errorf("%w: one of them answers", errNotYet)
		}
		return nil
	})
}

// Back waits until some API server answers from etcd.
func (w *World) Back(ctx context.Context) error {
	return cluster.Until(ctx, "an API server to be back", w.ask)
}

func (w *World) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return w.Client.Get(ctx, client.ObjectKey{Name: System}, &corev1.Namespace{})
}

// Calls are those that the machines have got of these methods, or all if none is named, by
// their arrival.
func (w *World) Calls(methods ...string) []sim.Call {
	return slices.DeleteFunc(w.Talos.Calls(), func(c sim.Call) bool {
		return len(methods) > 0 && !slices.Contains(methods, c.Method)
	})
}
