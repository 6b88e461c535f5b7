package cluster

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
)

// Plane is the control plane of a TalosCluster as it is now.
type Plane interface {
	// Bundle is the cluster's Talos secrets; talos.ErrBundle where they cannot be used.
	Bundle(context.Context, *v1alpha1.TalosCluster) (*talos.Bundle, error)
	// Machines are all of the cluster, past any cache.
	Machines(ctx context.Context, namespace, cluster string) ([]v1alpha1.TalosMachine, error)
	// View is its etcd; controlplane.ErrOtherCluster if that is not the recorded one,
	// controlplane.ErrNoControlPlane where nobody can be asked.
	View(context.Context, *talos.Bundle, []v1alpha1.TalosMachine, v1alpha1.HexID) (*etcd.View, error)
}

// Node is all that this package can ask of a machine.
type Node interface {
	VerifyCluster(context.Context) error
	Members(context.Context) ([]talos.Member, error)
	RemoveMember(context.Context, uint64) error
	Close() error
}

// Dial makes a client of a machine's node, and asks nothing yet.
type Dial func(*talos.Bundle, *v1alpha1.TalosMachine, talos.Role) (Node, error)

// DialBy dials for real.
func DialBy(a *controlplane.Access) Dial {
	return func(b *talos.Bundle, m *v1alpha1.TalosMachine, r talos.Role) (Node, error) {
		node, err := a.Dial(b, m, r)
		if err != nil {
			return nil, err
		}
		return node, nil
	}
}

// Hold is a cluster's lock, held.
type Hold interface {
	// Check fails unless it is held still, and long enough for one call.
	Check(context.Context) error
	Release(context.Context) error
}

// Lock takes a cluster's lock; lease.ErrHeld if somebody else has it.
type Lock func(ctx context.Context, cluster types.NamespacedName, operation string) (Hold, error)

// LockBy takes Leases.
func LockBy(l *lease.Locks) Lock {
	return func(ctx context.Context, cluster types.NamespacedName, operation string) (Hold, error) {
		held, err := l.Take(ctx, cluster, operation)
		if err != nil {
			return nil, err
		}
		return held, nil
	}
}
