package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// Access reaches the control planes of TalosClusters. It is safe for use by many at
// once.
type Access struct {
	live     client.Reader
	timeouts talos.Timeouts
	dial     dial

	mu      sync.Mutex
	bundles map[types.NamespacedName]kept
}

// New reads with live, which must ask the API server itself. Secrets are only ever got
// by name.
func New(live client.Reader, t talos.Timeouts) *Access {
	return &Access{live: live, timeouts: t, dial: dialEtcd, bundles: map[types.NamespacedName]kept{}}
}

// Machines are all TalosMachines of a cluster, workers and those that nobody has
// approved too, sorted by name.
func (a *Access) Machines(ctx context.Context, namespace, cluster string) ([]v1alpha1.TalosMachine, error) {
	var list v1alpha1.TalosMachineList
	if err := a.live.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the TalosMachines in %s: %w", namespace, err)
	}
	machines := slices.DeleteFunc(list.Items, func(m v1alpha1.TalosMachine) bool { return m.Spec.ClusterRef.Name != cluster })
	slices.SortFunc(machines, func(a, b v1alpha1.TalosMachine) int { return strings.Compare(a.Name, b.Name) })
	return machines, nil
}

// Dial makes a client of the machine's API, which connects when it is first used. The
// caller closes it.
func (a *Access) Dial(b *talos.Bundle, m *v1alpha1.TalosMachine, role talos.Role) (*talos.Node, error) {
	node, err := talos.NewNode(b, talos.Options{Address: APIAddress(m), Role: role, Timeouts: a.timeouts})
	if err != nil {
		return nil, fmt.Errorf("reach TalosMachine %s: %w", m.Name, err)
	}
	return node, nil
}
