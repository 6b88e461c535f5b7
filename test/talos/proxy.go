package talos

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// proxy plays kube-proxy for the Service of the API server on one node: an address of
// the node's own stands for the cluster IP, and leads where the EndpointSlices that
// it has heard of say. It hears by a real informer, and is as wrong as that is.
type proxy struct {
	node *Node

	mu       sync.Mutex
	slices   discoverylisters.EndpointSliceLister // nil before the first list
	backends []string                             // host:port, sorted
	frozen   int                                  // how many faults keep it as it is
	era      int                                  // counts its restarts, which end them
	again    context.CancelFunc                   // ends the informer, so that another one lists anew
}

// run relays and listens to the API server until ctx is done.
func (p *proxy) run(ctx context.Context) {
	var door sync.WaitGroup
	defer door.Wait()
	door.Go(func() { p.keepDoor(ctx) })
	for ctx.Err() == nil {
		if p.listen(ctx) != nil {
			_ = pause(ctx, podsEvery)
		}
	}
}

// listen keeps an informer until it is to be made anew. What it was told before stays
// in force until the new one knows better.
func (p *proxy) listen(ctx context.Context) error {
	client, err := p.client()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(metav1.NamespaceDefault),
		informers.WithTweakListOptions(func(o *metav1.ListOptions) {
			o.LabelSelector = discoveryv1.LabelServiceName + "=kubernetes"
		}))
	slices := factory.Discovery().V1().EndpointSlices()
	// An API server that is away is usual here, and the informer tries again by itself.
	if err := slices.Informer().SetWatchErrorHandler(func(*cache.Reflector, error) {}); err != nil {
		return err
	}
	if _, err := slices.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { p.program() }, UpdateFunc: func(any, any) { p.program() }, DeleteFunc: func(any) { p.program() },
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	if !cache.WaitForCacheSync(ctx.Done(), slices.Informer().HasSynced) {
		return context.Cause(ctx)
	}
	p.mu.Lock()
	p.slices, p.again = slices.Lister(), cancel
	p.mu.Unlock()
	p.program()
	<-ctx.Done()
	return nil
}

func (p *proxy) client() (kubernetes.Interface, error) {
	config, err := p.node.kubeConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// program puts in force what the informer knows, unless the proxy is frozen.
func (p *proxy) program() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen > 0 || p.slices == nil {
		return
	}
	known, err := p.slices.List(labels.Everything())
	if err == nil { // a cache's list cannot fail
		p.backends = backendsOf(known)
	}
}

// backendsOf are the ready endpoints, where they listen.
func backendsOf(known []*discoveryv1.EndpointSlice) (out []string) {
	for _, s := range known {
		for _, e := range s.Endpoints {
			if e.Conditions.Ready != nil && !*e.Conditions.Ready {
				continue
			}
			for _, port := range s.Ports {
				out = append(out, net.JoinHostPort(loopback(e.Addresses[0]), strconv.Itoa(int(*port.Port))))
			}
		}
	}
	slices.Sort(out)
	return out
}

func (p *proxy) known() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.backends)
}

// freeze keeps what is in force until the answered function is called.
func (p *proxy) freeze() (thaw func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen++
	era := p.era
	return sync.OnceFunc(func() {
		p.mu.Lock()
		if p.era == era {
			p.frozen--
		}
		p.mu.Unlock()
		p.program()
	})
}

// stale freezes it as if these were all that it has heard of.
func (p *proxy) stale(backends []string) (thaw func()) {
	thaw = p.freeze()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.backends = slices.Clone(backends)
	return thaw
}

// errNotReady is the error of a proxy that has not heard of anything yet.
var errNotReady = errors.New("it has not listed anything yet")

func (p *proxy) restart() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.again == nil {
		return errNotReady
	}
	p.again()
	p.again, p.frozen = nil, 0
	p.era++
	return nil
}
