package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// worker is a kubelet's care for one pod, from its binding to its end.
type worker struct {
	k       *Kubelets
	number  int         // in the order of adoption
	pod     *corev1.Pod // as it was bound: what runs does not change
	dir     string
	address string // in the API
	begun   metav1.Time
	ended   chan struct{} // closed when nothing of the pod runs any more
	left    bool          // the API, before it ended

	// The pod's containers in the order of its spec.
	initials, members []*container

	folders map[string]string // by volume
	paths   paths

	mu         sync.Mutex
	tokens     map[string]string
	conditions []corev1.PodCondition // as they were reported last
	failure    string                // why the pod does not start
}

// work starts the pod, keeps it, and ends it.
func (w *worker) work() {
	defer close(w.ended)
	living, stop := context.WithCancel(w.k.ctx)
	reporting, quiet := context.WithCancel(w.k.ctx)
	var rest, reports sync.WaitGroup
	reports.Go(func() { w.reports(reporting) })
	rest.Go(func() { w.live(living, &rest) })
	w.k.bell.until(w.k.ctx, w.doomed)
	stop()
	w.terminate()
	rest.Wait()
	removed := w.k.bell.until(w.k.ctx, w.removed)
	quiet()
	reports.Wait()
	w.left = removed
	if removed { // its volumes outlive the kubelet otherwise
		w.clean()
	}
	w.k.bell.ring()
}

// clean erases what belonged to the pod alone, but for its logs.
func (w *worker) clean() {
	if err := os.RemoveAll(filepath.Join(w.dir, "volumes")); err != nil {
		w.k.complain(fmt.Errorf("erase the volumes of pod %s: %w", w.pod.Name, err))
	}
}

// latest is the pod as it is in the API; as it was, once it is gone.
func (w *worker) latest() *corev1.Pod {
	if found := w.k.world().pod(w.pod); found != nil {
		return found
	}
	return w.pod
}

// gone tells whether the pod has left the API, as far as its node has heard.
func (w *worker) gone() bool {
	return w.k.world().pod(w.pod) == nil && !w.k.silent(w.pod.Spec.NodeName)
}

func (w *worker) doomed() bool {
	if w.k.silent(w.pod.Spec.NodeName) {
		return false
	}
	pod := w.k.world().pod(w.pod)
	return pod == nil || pod.DeletionTimestamp != nil
}

// live starts the containers in their order. Those that stay run beside it.
func (w *worker) live(ctx context.Context, beside *sync.WaitGroup) {
	if !w.k.bell.until(ctx, func() bool { return w.mayStart(ctx) }) {
		return
	}
	beside.Go(func() { w.refresh(ctx) })
	for _, c := range w.initials {
		if c.role == initial {
			if !c.run(ctx) {
				return
			}
			continue
		}
		beside.Go(func() { c.run(ctx) })
		if !w.k.bell.until(ctx, c.isStarted) {
			return
		}
	}
	for _, c := range w.members {
		beside.Go(func() { c.run(ctx) })
	}
}

func (c *container) isStarted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// mayStart tells whether nothing holds the pod up and its volumes are there.
func (w *worker) mayStart(ctx context.Context) bool {
	if w.k.silent(w.pod.Spec.NodeName) || w.k.waitsToStart(w.latest()) {
		return false
	}
	err := w.locate()
	if err == nil {
		err = w.mount(ctx)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = ""
	if err != nil {
		w.failure = err.Error()
	}
	return err == nil
}

// refresh keeps the volumes as their objects are. An object that is gone leaves its
// files where they are, as on a node.
func (w *worker) refresh(ctx context.Context) {
	w.k.bell.until(ctx, func() bool {
		if !w.k.silent(w.pod.Spec.NodeName) {
			_ = w.mount(ctx)
		}
		return false
	})
}

// grace is how long the pod may take to end.
func (w *worker) grace() time.Duration {
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if s := w.pod.Spec.TerminationGracePeriodSeconds; s != nil {
		seconds = *s
	}
	if s := w.latest().DeletionGracePeriodSeconds; s != nil {
		seconds = *s
	}
	return time.Duration(seconds) * time.Second
}

// terminate ends the containers, sidecars last and in reverse. A pod that is gone
// from the API has no more time.
func (w *worker) terminate() {
	ctx, cancel := context.WithTimeout(w.k.ctx, w.grace())
	defer cancel()
	go func() {
		if w.k.bell.until(ctx, w.gone) {
			cancel()
		}
	}()
	var ending sync.WaitGroup
	for _, c := range append(append([]*container(nil), w.initials...), w.members...) {
		if c.role != sidecar {
			ending.Go(func() { c.terminate(ctx) })
		}
	}
	ending.Wait()
	for i := len(w.initials) - 1; i >= 0; i-- {
		if w.initials[i].role == sidecar {
			w.initials[i].terminate(ctx)
		}
	}
}

// removed takes the pod out of the API; false as long as it is there.
func (w *worker) removed() bool {
	if w.k.silent(w.pod.Spec.NodeName) {
		return false
	}
	if w.gone() {
		return true
	}
	ctx, cancel := context.WithTimeout(w.k.ctx, callTimeout)
	defer cancel()
	options := *metav1.NewDeleteOptions(0)
	options.Preconditions = metav1.NewUIDPreconditions(string(w.pod.UID))
	err := w.k.client.CoreV1().Pods(w.pod.Namespace).Delete(ctx, w.pod.Name, options)
	// Finalizers can hold it in the API; nothing of it runs.
	return err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err)
}
