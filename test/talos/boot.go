package talos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cosi-project/runtime/pkg/state"
	"github.com/google/uuid"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// boot is one run of a machine. What is in here is gone with the next reboot.
type boot struct {
	node      *Node
	id        string
	ctx       context.Context // done when the boot is over
	end       context.CancelFunc
	resources state.State
	events    *events
	services  *services
	sequences sequences
	began     time.Time
	timing    Timing // when it began
	ready     *parts
	founding  sync.Mutex
	etcd      atomic.Pointer[etcdService] // nil on a worker
	pods      *pods
	prism     *prism   // nil without Kubernetes
	proxy     *proxy   // as prism
	kubelet   *kubelet // as prism
}

// start boots the machine from its disk.
func (n *Node) start() (*boot, error) {
	if err := n.disk.mount(constants.StatePartitionLabel, constants.MetaPartitionLabel); err != nil {
		return nil, err
	}
	b := &boot{
		node: n, id: uuid.NewString(), resources: newResources(), events: newEvents(), services: &services{}, pods: &pods{}, began: time.Now(), timing: n.timing, ready: newParts(),
	}
	if err := b.progress(); err != nil {
		return nil, err
	}
	b.ctx, b.end = context.WithCancel(n.life)
	if err := b.describe(b.ctx); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", n.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("boot %s: %w", n.Name, err)
	}
	serve, err := b.serveAPI(listener)
	if err != nil {
		return nil, err
	}
	if n.cluster.options.Kubernetes {
		if b.prism, err = n.newPrism(); err != nil {
			return nil, errors.Join(err, listener.Close())
		}
		b.proxy = &proxy{node: n}
		b.kubelet = &kubelet{boot: b}
	}
	b.startServices(serve)
	return b, nil
}

// startServices starts them in their order. What needs CRI waits for it by itself.
func (b *boot) startServices(serveAPI runner) {
	b.services.start(b.ctx, "machined", b.machined)
	b.services.start(b.ctx, "apid", serveAPI)
	b.services.start(b.ctx, "containerd", idle)
	b.services.start(b.ctx, "cri", b.cri)
	if b.node.cluster.options.Kubernetes {
		b.services.start(b.ctx, kubeletServiceID, b.needs(b.kubelet.run, partCRI))
	}
	if !b.node.worker {
		b.startEtcd(&etcdService{boot: b})
	}
	if b.node.cluster.options.Kubernetes {
		b.startPods()
	}
}

func (b *boot) startEtcd(e *etcdService) {
	b.etcd.Store(e)
	b.services.start(b.ctx, etcdServiceID, b.needs(e.run, partCRI, partTime))
}

// shutdown stops the pods, then the services in order, the API last but for machined.
// What does not end in time is killed.
func (b *boot) shutdown(ctx context.Context) {
	b.stopPods(ctx)
	if b.services.stop(ctx) != nil {
		b.killEtcd()
	}
	b.end()
}

// while answers a context that ends with the boot too.
func (b *boot) while(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(b.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

func (b *boot) killEtcd() {
	if e := b.etcd.Load(); e != nil {
		e.kill()
	}
}

// crash ends everything at once.
func (b *boot) crash() {
	b.pods.kill()
	b.killEtcd()
	b.end()
	b.pods.stop(b.node.Timing().PodGrace)
	for _, s := range b.services.all() {
		<-s.ended
	}
	if b.kubelet != nil {
		b.kubelet.end()
	}
}
