package node

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// watched is what the nodes know of the API server's objects. None of them may be
// changed. A kubelet alone has no nodes, Services and EndpointSlices.
type watched struct {
	factories []informers.SharedInformerFactory
	bell      *bell
	ctx       context.Context // ends with stop
	cancel    context.CancelFunc

	pods       corelisters.PodLister
	nodes      corelisters.NodeLister
	claims     corelisters.PersistentVolumeClaimLister
	volumes    corelisters.PersistentVolumeLister
	services   corelisters.ServiceLister
	slices     discoverylisters.EndpointSliceLister
	configMaps corelisters.ConfigMapLister
	secrets    corelisters.SecretLister
	synced     []cache.InformerSynced
	wrong      []error
}

// errUnsynced: the API server did not list its objects in time.
var errUnsynced = errors.New("the API server's objects were not listed in time")

func (k *Kubelets) watch() *watched {
	w := &watched{bell: k.bell}
	w.ctx, w.cancel = context.WithCancel(k.ctx)
	core := w.factory(k.client).Core().V1()
	w.claims, w.volumes = core.PersistentVolumeClaims().Lister(), core.PersistentVolumes().Lister()
	w.configMaps, w.secrets = core.ConfigMaps().Lister(), core.Secrets().Lister()
	heard := []cache.SharedIndexInformer{
		core.PersistentVolumeClaims().Informer(), core.PersistentVolumes().Informer(), core.ConfigMaps().Informer(), core.Secrets().Informer(),
	}
	if k.options.Kubelet != nil {
		own := w.factory(k.client, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.FieldSelector = "spec.nodeName=" + k.options.Nodes[0] }))
		w.pods = own.Core().V1().Pods().Lister()
		heard = append(heard, own.Core().V1().Pods().Informer())
	} else {
		discovery := w.factories[0].Discovery().V1()
		w.pods, w.nodes, w.services, w.slices = core.Pods().Lister(), core.Nodes().Lister(), core.Services().Lister(), discovery.EndpointSlices().Lister()
		heard = append(heard, core.Pods().Informer(), core.Nodes().Informer(), core.Services().Informer(), discovery.EndpointSlices().Informer())
	}
	for _, informer := range heard {
		w.hear(informer)
	}
	return w
}

func (w *watched) factory(client kubernetes.Interface, options ...informers.SharedInformerOption) informers.SharedInformerFactory {
	f := informers.NewSharedInformerFactoryWithOptions(client, 0, options...)
	w.factories = append(w.factories, f)
	return f
}

func (w *watched) hear(informer cache.SharedIndexInformer) {
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { w.bell.ring() },
		UpdateFunc: func(any, any) { w.bell.ring() },
		DeleteFunc: func(any) { w.bell.ring() },
	})
	if err != nil {
		w.wrong = append(w.wrong, err)
		return
	}
	w.synced = append(w.synced, registration.HasSynced)
}

func (w *watched) start(ctx context.Context) error {
	if err := errors.Join(w.wrong...); err != nil {
		return fmt.Errorf("watch the API server's objects: %w", err)
	}
	for _, f := range w.factories {
		f.Start(w.ctx.Done())
	}
	if !cache.WaitForCacheSync(ctx.Done(), w.synced...) {
		return errUnsynced
	}
	return nil
}

func (w *watched) stop() {
	w.cancel()
	for _, f := range w.factories {
		f.Shutdown()
	}
}

// list answers all of a lister's objects: a cache's list of everything cannot fail.
func list[T any](all func(labels.Selector) ([]T, error)) []T {
	found, err := all(labels.Everything())
	if err != nil {
		return nil
	}
	return found
}

func (w *watched) slicesOf(namespace, service string) []*discoveryv1.EndpointSlice {
	found, err := w.slices.EndpointSlices(namespace).List(labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: service}))
	if err != nil {
		return nil
	}
	return found
}

// pod answers the one with this name and UID, nil if it is gone.
func (w *watched) pod(like *corev1.Pod) *corev1.Pod {
	found, err := w.pods.Pods(like.Namespace).Get(like.Name)
	if err != nil || found.UID != like.UID {
		return nil
	}
	return found
}
