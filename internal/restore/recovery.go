package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// Recovery is the restore of a cluster that is wholly lost, or whose restore has lost
// its marker too: what a person knows on the command line.
type Recovery struct {
	Cluster, Namespace, Backup, Requester string
	// Quorate is this version, Identity this process.
	Quorate, Identity string
	Snapshot          Snapshot
	// Pinned describes what is pinned in the store, or staged in the folder.
	Pinned Pinned
	// Endpoints are the addresses of the machine API of every control plane; the first
	// is recovered on.
	Endpoints []string
	// LeftOut are machines that it is done without.
	LeftOut []Node
	Now     time.Time
	// Epoch is the number of the restore; 0 for one of Now.
	Epoch int64
	// Hold is how long the process owns it before it renews; 0 is the default.
	Hold time.Duration
}

// CommandName is the name of the operation of a restore that was ordered by command line,
// of an epoch.
func CommandName(epoch int64) string { return fmt.Sprintf("etcd-restore-%d", epoch) }

// NewRecovery builds the marker of a restore from outside the cluster. It asks every
// node what must be wiped with EPHEMERAL; one that does not answer is an error.
func NewRecovery(ctx context.Context, nodes Nodes, r Recovery) (*Marker, error) {
	return newRecovery(ctx, nodes, r)
}

func newRecovery(ctx context.Context, nodes Nodes, r Recovery) (*Marker, error) {
	m := &Marker{
		Schema: Schema, Quorate: r.Quorate, Fence: 1, Owner: Owner{r.Identity, r.Now.Add(cmp.Or(r.Hold, DefaultHold))},
		Operation: Operation{Requester: r.Requester}, Cluster: r.Cluster, Namespace: r.Namespace, Backup: r.Backup,
		Snapshot: r.Snapshot, Pinned: r.Pinned, Step: v1alpha1.StepWiping,
		RequestedAt: r.Now, StartedAt: r.Now, LimitsFrom: r.Now, Epoch: cmp.Or(r.Epoch, r.Now.UnixMilli()), LeftOut: r.LeftOut,
	}
	for _, address := range r.Endpoints {
		n, err := describe(ctx, nodes, address)
		if err != nil {
			return nil, fmt.Errorf("ask node %s: %w", address, err)
		}
		if m.Node(n.Machine) != nil {
			return nil, fmt.Errorf("node %s: %s is another endpoint of it; give each control plane once", address, m.Node(n.Machine).Address)
		}
		m.Nodes = append(m.Nodes, n)
	}
	if len(m.Nodes) == 0 {
		return nil, errors.New("no control plane is given; name the machine API of each of them with --node-endpoint")
	}
	m.Target = m.Nodes[0].Machine
	return m, nil
}

func describe(ctx context.Context, nodes Nodes, address string) (Node, error) {
	n := Node{Address: address, Role: v1alpha1.MachineControlPlane}
	client, err := nodes.Node(address)
	if err != nil {
		return n, err
	}
	if n.NodeName, err = client.NodeName(ctx); err != nil {
		return n, err
	}
	if n.BootID, err = client.BootID(ctx); err != nil {
		return n, err
	}
	// Who has no etcd must not be wiped for its sake. That etcd does not answer says nothing.
	if _, err := client.Members(ctx); errors.Is(err, talos.ErrNotControlPlane) {
		return n, fmt.Errorf("it is no control plane: %w", err)
	}
	n.Machine = cmp.Or(n.NodeName, address)
	n.Volumes, err = client.Volumes(ctx)
	return n, err
}
