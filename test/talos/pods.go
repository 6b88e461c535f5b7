package talos

import (
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/quorate/quorate/test/process"
)

// pods is what runs of Kubernetes beside the pods of the API: kube-apiserver, which
// the kubelet keeps running from a file, kube-proxy, and KubePrism beside them.
type pods struct {
	cancel context.CancelFunc
	loop   sync.WaitGroup

	mu     sync.Mutex
	server *process.Process // nil while it is not wanted
	killed bool             // nothing starts any more
}

// podsEvery is how often the kubelet looks at what is wanted.
const podsEvery = 100 * time.Millisecond

// apiServerWanted decides whether there is to be a kube-apiserver, by the state of the
// service etcd: it comes with a healthy etcd, stays with an unhealthy one, and goes
// with the service (Talos: k8s/control_plane_static_pod.go; a service that is not
// Running has no resource, v1alpha1/service.go).
func apiServerWanted(etcd string, healthy, is bool) bool {
	return etcd == stateRunning && (healthy || is)
}

func (b *boot) startPods() {
	ctx, cancel := context.WithCancel(b.ctx)
	b.pods.cancel = cancel
	b.pods.loop.Go(func() { b.prism.run(ctx) })
	b.pods.loop.Go(func() { b.proxy.run(ctx) })
	if b.node.worker {
		return
	}
	b.pods.loop.Go(func() {
		for pause(ctx, podsEvery) == nil {
			b.syncPods()
		}
	})
}

// syncPods starts or ends the API server. One that has ended by itself starts again
// after a while. That it cannot be started shows as an API server that is missing.
func (b *boot) syncPods() {
	etcd := b.services.find(etcdServiceID)
	server := b.pods.running()
	switch wanted := apiServerWanted(etcd.is(), etcd.isHealthy(), server != nil); {
	case !wanted && server != nil:
		b.pods.end(server, b.node.Timing().PodGrace)
	case wanted && server == nil:
		_ = b.pods.begin(b.node)
	case wanted && server.Alive() != nil:
		if pause(b.ctx, b.node.Timing().RestartEvery) == nil {
			_ = b.pods.begin(b.node)
		}
	}
}

func (p *pods) running() *process.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.server
}

func (p *pods) begin(n *Node) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed {
		return nil
	}
	server, err := process.Start(n.apiServerLog(), n.cluster.apiserver, n.apiServerFlags()...)
	if err == nil {
		p.server = server
	}
	return err
}

// end asks it to end, and kills it when its grace is over: without etcd an API server
// does not end by itself.
func (p *pods) end(server *process.Process, grace time.Duration) {
	_ = server.Signal(syscall.SIGTERM) // it may have ended already
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-server.Ended():
	case <-timer.C:
		_ = server.Signal(syscall.SIGKILL)
		<-server.Ended()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.server = nil
}

// stop ends all pods in order, etcd being there.
func (p *pods) stop(grace time.Duration) {
	if p.cancel == nil {
		return
	}
	p.cancel()
	p.loop.Wait()
	if server := p.running(); server != nil {
		p.end(server, grace)
	}
}

// stopPods ends the kubelet and all that it runs. The pods of the API are killed.
func (b *boot) stopPods(ctx context.Context) {
	if b.kubelet != nil {
		ctx, cancel := context.WithTimeout(ctx, stopTimeout)
		defer cancel()
		_ = b.services.find(kubeletServiceID).stop(ctx) // it ends all the same
		b.kubelet.end()
	}
	b.pods.stop(b.node.Timing().PodGrace)
}

// kill ends what the kubelet runs from files at once.
func (p *pods) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killed = true
	if p.server != nil {
		_ = p.server.Signal(syscall.SIGKILL) // it may have ended already
	}
}
