package machine

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/drain"
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
	// View is its etcd; controlplane.ErrOtherCluster if that is not the recorded
	// one.
	View(context.Context, *talos.Bundle, []v1alpha1.TalosMachine, v1alpha1.HexID) (*etcd.View, error)
}

// Node is all that this package can ask of a machine. Nothing in it wipes one.
type Node interface {
	Version(context.Context) (string, error)
	VerifyCluster(context.Context) error
	NodeName(context.Context) (string, error)
	MemberID(context.Context) (uint64, error)
	ConfigStaged(context.Context) (bool, error)
	Members(context.Context) ([]talos.Member, error)
	ForfeitLeadership(context.Context) (string, error)
	Leave(context.Context) error
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

// Judge has the admission rules.
type Judge interface {
	LiveReads(*cel.Request) (map[string]cel.LiveTarget, error)
	JudgeAs(ctx context.Context, r *cel.Request, controller bool) cel.Verdict
}

// Drainer takes one look at a Node, and evicts what is to go.
type Drainer interface {
	Step(ctx context.Context, node string) (drain.Progress, error)
}

// Evacuate is asked until nothing is left to wait for. It is given the machine and the
// volume attachments of its Node.
type Evacuate func(context.Context, *v1alpha1.TalosMachine, []storagev1.VolumeAttachment) (waitsFor string, err error)
