package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Kubelets plays all nodes. Its methods may be called from several goroutines.
type Kubelets struct {
	options Options
	client  kubernetes.Interface
	block   *block
	bell    *bell
	known   atomic.Pointer[watched]
	names   *nameServer
	hold    net.Listener // keeps the block where no names are served
	proxy   *proxy

	ctx    context.Context // ends with Stop
	cancel context.CancelFunc
	loops  sync.WaitGroup

	mu      sync.Mutex
	wrong   []error // what went wrong here, not in a pod
	workers map[types.UID]*worker
	adopted int                  // how many workers there were
	assumed map[types.UID]string // nodes of pods whose binding was not seen yet
	faults  faults
}

// Start makes the nodes and lets them work until Stop. It answers when they are
// there, and all objects are known.
func Start(ctx context.Context, options Options) (*Kubelets, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(options.Config)
	if err != nil {
		return nil, fmt.Errorf("make the nodes' client: %w", err)
	}
	b, listener, err := claimBlock()
	if err != nil {
		return nil, err
	}
	k := &Kubelets{
		options: options, client: client, block: b, bell: newBell(),
		workers: map[types.UID]*worker{}, assumed: map[types.UID]string{}, faults: newFaults(),
	}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.known.Store(k.watch())
	k.proxy = newProxy(k)
	if err := k.start(ctx, listener); err != nil {
		return nil, fmt.Errorf("start the nodes: %w", errors.Join(err, k.Stop()))
	}
	return k, nil
}

func (k *Kubelets) start(ctx context.Context, listener net.Listener) error {
	if err := k.name(listener); err != nil {
		return err
	}
	for _, dir := range []string{"disks", "pods"} {
		if err := os.MkdirAll(filepath.Join(k.options.Dir, dir), 0o700); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	if err := k.join(ctx); err != nil {
		return err
	}
	if err := k.world().start(ctx); err != nil {
		return err
	}
	loops := []func(context.Context){k.heartbeats, k.admit, k.sweep}
	if k.options.Kubelet == nil {
		loops = append(loops, k.schedule, k.proxy.follow)
	}
	for _, loop := range loops {
		k.loops.Go(func() { loop(k.ctx) })
	}
	return nil
}

// name serves names, or keeps the block if there are none to serve.
func (k *Kubelets) name(listener net.Listener) (err error) {
	if k.options.Kubelet != nil {
		k.hold = listener
		return nil
	}
	k.names, err = serveNames(listener, k)
	return err
}

// world is what the nodes have heard of so far.
func (k *Kubelets) world() *watched { return k.known.Load() }

// Stop kills what runs in the pods and leaves the objects as they are. Its error is
// all that went wrong in between. A second call does nothing.
func (k *Kubelets) Stop() error {
	if k.ctx.Err() != nil {
		return nil
	}
	k.cancel()
	k.names.stop()
	if k.hold != nil {
		_ = k.hold.Close()
	}
	k.loops.Wait()
	for _, w := range k.all() {
		<-w.ended
	}
	k.proxy.stop()
	k.world().stop()
	k.mu.Lock()
	defer k.mu.Unlock()
	return errors.Join(k.wrong...)
}

// DNS is host:port of the name server, for programs outside of pods that are built
// with package wrap: they get it in the variable QUORATE_TEST_DNS.
func (k *Kubelets) DNS() string { return k.block.dns() }

// complain keeps an error for Stop, unless Stop has caused it.
func (k *Kubelets) complain(err error) {
	if err == nil || k.ctx.Err() != nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.wrong = append(k.wrong, err)
}

// refused keeps an error of the API server that does not pass by itself: a server
// that is away and an object that is gone or changed are asked for again.
func (k *Kubelets) refused(err error) {
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) {
		k.complain(err)
	}
}
