package node

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// watched is what the nodes know of the API server's objects. None of them may be
// changed.
type watched struct {
	factory informers.SharedInformerFactory
	bell    *bell

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

func watch(client kubernetes.Interface, b *bell) *watched {
	f := informers.NewSharedInformerFactory(client, 0)
	w := &watched{factory: f, bell: b}
	core := f.Core().V1()
	w.pods, w.nodes, w.claims = core.Pods().Lister(), core.Nodes().Lister(), core.PersistentVolumeClaims().Lister()
	w.volumes, w.services = core.PersistentVolumes().Lister(), core.Services().Lister()
	w.configMaps, w.secrets = core.ConfigMaps().Lister(), core.Secrets().Lister()
	w.slices = f.Discovery().V1().EndpointSlices().Lister()
	for _, informer := range []cache.SharedIndexInformer{
		core.Pods().Informer(), core.Nodes().Informer(), core.PersistentVolumeClaims().Informer(),
		core.PersistentVolumes().Informer(), core.Services().Informer(), core.ConfigMaps().Informer(),
		core.Secrets().Informer(), f.Discovery().V1().EndpointSlices().Informer(),
	} {
		w.hear(informer)
	}
	return w
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

func (w *watched) start(ctx context.Context, stop <-chan struct{}) error {
	if err := errors.Join(w.wrong...); err != nil {
		return fmt.Errorf("watch the API server's objects: %w", err)
	}
	w.factory.Start(stop)
	if !cache.WaitForCacheSync(ctx.Done(), w.synced...) {
		return errUnsynced
	}
	return nil
}

func (w *watched) stop() { w.factory.Shutdown() }

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
