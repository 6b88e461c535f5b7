package restore

import (
	"context"
	"io"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/store"
)

// Nodes gives the clients of nodes; safe for many at once.
type Nodes interface {
	Node(address string) (NodeClient, error)
}

// NodeClient is the machine API of one node, with a deadline of its own for each call.
// Errors are those of package talos. After an error it is open whether a call acted.
type NodeClient interface {
	// BootID changes with each boot.
	BootID(ctx context.Context) (string, error)
	// HasEtcdData tells whether there is a member's folder in etcd's data directory.
	HasEtcdData(ctx context.Context) (bool, error)
	// Members is the linearizable list of the node's etcd.
	Members(ctx context.Context) ([]guard.Member, error)
	// EtcdService is the node's etcd as its machine API has it; where there is none at all,
	// its State says so.
	EtcdService(ctx context.Context) (restoring.Service, error)
	// Alarms are those of etcd, as NOSPACE.
	Alarms(ctx context.Context) ([]string, error)
	ForfeitLeadership(ctx context.Context) error
	// Leave takes the node's member out of etcd and deletes its data.
	Leave(ctx context.Context) error
	// Reset wipes EPHEMERAL and the volumes, and reboots, some time after it answers.
	Reset(ctx context.Context, volumes []string) error
	// Recover uploads a snapshot.
	Recover(ctx context.Context, r io.Reader) error
	// Bootstrap has the node recover etcd from what was uploaded, some time after it
	// answers.
	Bootstrap(ctx context.Context) error
	RestartKubelet(ctx context.Context) error
	// NodeName is the name of the node in Kubernetes, and of its member in etcd.
	NodeName(ctx context.Context) (string, error)
	// Volumes are those that are wiped with EPHEMERAL.
	Volumes(ctx context.Context) ([]string, error)
}

// Etcd asks the member on a node by its client port. An answer is linearizable, so it
// proves that a quorum is behind the member. An error is etcd.ErrUnreached where nothing
// could be asked.
type Etcd interface {
	Probe(ctx context.Context, address string) (Probe, error)
}

// Probe is the answer of one member of etcd.
type Probe struct {
	ClusterID, MemberID uint64
	Revision            int64
	Members             []guard.Member
}

// Store is what a restore needs of the object store.
type Store interface {
	Create(ctx context.Context, name string, data []byte) (store.Version, error)
	Replace(ctx context.Context, name string, data []byte, v store.Version) (store.Version, error)
	Remove(ctx context.Context, name string, v store.Version) error
	Get(ctx context.Context, name string) (io.ReadCloser, store.Info, error)
}

// Desk is the job's folder, which outlives the container and not the pod.
type Desk interface {
	// Identity is whose folder it is: made up at its first use, the same ever after.
	Identity() (string, error)
	// Marker is the marker as it was last saved here; ErrNoMarker before that.
	Marker() (*Marker, error)
	// SaveMarker returns once it is on disk.
	SaveMarker(m *Marker) error
	// Write adds to the journal and returns once it is on disk.
	Write(e Entry) error
	// Snapshot opens the resealed snapshot; fs.ErrNotExist if it is not here.
	Snapshot() (io.ReadCloser, error)
	// Stage keeps a resealed snapshot, in place of one that was here, once it was read
	// whole.
	Stage(r io.Reader) error
}
