package etcds

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	eventsv1 "k8s.io/api/events/v1"

	"github.com/quorate/quorate/test/cluster"
)

// held are pods that do not start, by namespace and name, over all tests.
var (
	heldMutex sync.Mutex
	held      = map[types.NamespacedName]bool{}
)

func isHeld(pod *corev1.Pod) bool {
	heldMutex.Lock()
	defer heldMutex.Unlock()
	return held[types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}]
}

func hold(key types.NamespacedName, on bool) {
	heldMutex.Lock()
	held[key] = on
	heldMutex.Unlock()
	shared.Nodes.HoldPod(isHeld)
}

// down ends a member and keeps it from starting; up lets it start again.
func (p *plant) down(ordinal int) (up func()) {
	p.t.Helper()
	key := types.NamespacedName{Namespace: p.ns, Name: p.pod(ordinal)}
	hold(key, true)
	p.t.Cleanup(func() { hold(key, false) })
	p.deletePod(ordinal)
	must(p.t, cluster.Until(p.t.Context(), p.pod(ordinal)+" to be down", func(context.Context) error {
		if shared.Nodes.Running(p.ns, p.pod(ordinal)) {
			return errRunning
		}
		return nil
	}))
	return func() { hold(key, false) }
}

// events are what was told of the Etcd, oldest first.
func (p *plant) events(ctx context.Context) ([]string, error) {
	var list eventsv1.EventList
	if err := admin.List(ctx, &list, client.InNamespace(p.ns)); err != nil {
		return nil, err
	}
	var out []string
	for _, e := range list.Items {
		if e.Regarding.Kind == "Etcd" && e.Regarding.Name == p.name {
			out = append(out, e.Reason+": "+e.Note)
		}
	}
	return out, nil
}
