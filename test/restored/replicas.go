package restored

import (
	"context"
	"crypto/rand"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// keepEvery is how often the manager's pods are counted.
	keepEvery = 300 * time.Millisecond
	// callTimeout bounds one call of an API server.
	callTimeout = 10 * time.Second
)

// replica is one pod of the manager.
type replica struct {
	name    string
	uid     types.UID
	machine string
}

// replicas keep one pod of the manager, as its Deployment does.
type replicas struct {
	world  *World
	cancel context.CancelFunc
	ctx    context.Context
	loop   sync.WaitGroup

	mu      sync.Mutex
	machine string  // where the next pod goes
	seen    replica // the one that the API had last
	wrong   error   // of the last look: the API servers may be away
}

func newReplicas(w *World) *replicas {
	r := &replicas{world: w, machine: w.options.Manager}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

func (r *replicas) start() {
	r.loop.Go(func() {
		ticker := time.NewTicker(keepEvery)
		defer ticker.Stop()
		for {
			r.failed(r.keep())
			select {
			case <-ticker.C:
			case <-r.ctx.Done():
				return
			}
		}
	})
}

func (r *replicas) stop() {
	r.cancel()
	r.loop.Wait()
}

// keep makes a pod if there is none that is to stay.
func (r *replicas) keep() error {
	ctx, cancel := context.WithTimeout(r.ctx, callTimeout)
	defer cancel()
	pods, err := r.world.pods(ctx)
	if err != nil {
		return err
	}
	for _, p := range pods {
		if p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
			r.note(&p)
			return nil
		}
	}
	r.mu.Lock()
	machine := r.machine
	r.mu.Unlock()
	p := r.world.pod("quorate-manager-"+strings.ToLower(rand.Text()[:8]), machine)
	if err := r.world.Client.Create(ctx, p); err != nil {
		return err
	}
	r.note(p)
	return nil
}

func (r *replicas) note(p *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = replica{name: p.Name, uid: p.UID, machine: r.machineOf(p.Spec.NodeName)}
}

func (r *replicas) machineOf(node string) string {
	for _, n := range r.world.Talos.Nodes() {
		if n.NodeName() == node {
			return n.Name
		}
	}
	return ""
}

func (r *replicas) last() replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

func (r *replicas) failed(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong = err
}

// trouble is what the last look failed with.
func (r *replicas) trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrong
}

func (r *replicas) to(machine string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.machine = machine
}
