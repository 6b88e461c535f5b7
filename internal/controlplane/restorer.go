package controlplane

import (
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// Restorer makes a client of all that a restore asks of the machine's API, which connects
// when it is first used. The caller closes it.
func (a *Access) Restorer(b *talos.Bundle, m *v1alpha1.TalosMachine) (*talos.Restorer, error) {
	return a.restorer(b, m, talos.Admin)
}

// Snapshotter makes the same client for a backup: as an operator it can read a snapshot
// of etcd, and the machine lets it reset nothing.
func (a *Access) Snapshotter(b *talos.Bundle, m *v1alpha1.TalosMachine) (*talos.Restorer, error) {
	return a.restorer(b, m, talos.Operator)
}

func (a *Access) restorer(b *talos.Bundle, m *v1alpha1.TalosMachine, role talos.Role) (*talos.Restorer, error) {
	node, err := talos.NewRestorer(b, talos.Options{Address: APIAddress(m), Role: role, Timeouts: a.timeouts})
	if err != nil {
		return nil, fmt.Errorf("reach TalosMachine %s: %w", m.Name, err)
	}
	return node, nil
}
