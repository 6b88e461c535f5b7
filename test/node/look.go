package node

import (
	"fmt"
	"os"
	"path/filepath"
)

func (w *worker) containers() []*container {
	return append(append([]*container(nil), w.initials...), w.members...)
}

// running is the container's process, nil if none runs.
func (c *container) running() *child {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.child == nil || c.child.Alive() != nil {
		return nil
	}
	return c.child
}

// worker finds the one of the newest pod of this name.
func (k *Kubelets) worker(namespace, pod string) (*worker, error) {
	var newest *worker
	for _, w := range k.all() {
		if w.pod.Namespace == namespace && w.pod.Name == pod && (newest == nil || newest.number < w.number) {
			newest = w
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("%s/%s: %w", namespace, pod, ErrNoPod)
	}
	return newest, nil
}

func (k *Kubelets) all() (out []*worker) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, w := range k.workers {
		out = append(out, w)
	}
	return out
}

// over tells whether nothing of the pod runs any more.
func (w *worker) over() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// Running tells whether a process of a pod of this name runs, wherever the API says
// that it is.
func (k *Kubelets) Running(namespace, pod string) bool {
	for _, w := range k.all() {
		if w.pod.Namespace != namespace || w.pod.Name != pod {
			continue
		}
		for _, c := range w.containers() {
			if c.running() != nil {
				return true
			}
		}
	}
	return false
}

// Logs is all that a container has written, over all its starts in the newest pod of
// this name. A container that never started has none.
func (k *Kubelets) Logs(namespace, pod, container string) string {
	w, err := k.worker(namespace, pod)
	if err != nil {
		return ""
	}
	content, err := os.ReadFile(filepath.Join(w.dir, "containers", container, "log"))
	if err != nil {
		return ""
	}
	return string(content)
}
