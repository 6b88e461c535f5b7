package etcds

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

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
