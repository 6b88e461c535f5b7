package restore

import (
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// Schema is the form of markers that this version writes. Since 2 the copy has a name of
// its own and machines may be left out: who knows 1 alone would miss both.
const Schema = 2

// MarkerName is the marker's in the store, beside the backups.
const MarkerName = "etcd-restore.marker.json"

// Node is a machine of the cluster as a restore keeps it.
type Node = restoring.Node

// Marker is the state of a restore outside the cluster that it rewinds: the object
// etcd-restore.marker.json beside the backups, while a restore is on its way. There is
// no secret in it. Times are those of the process that wrote them.
type Marker struct {
	Schema int `json:"schema"`
	// Quorate is the version that wrote it.
	Quorate string `json:"quorate"`
	// Fence rises with each takeover, Sequence with each write, so that no two contents
	// are equal.
	Fence    int64 `json:"fence"`
	Sequence int64 `json:"sequence"`
	Owner    Owner `json:"owner"`
	// Operation is the order; recreated from here if the rewind took it.
	Operation Operation `json:"operation"`
	Cluster   string    `json:"cluster"`
	Namespace string    `json:"namespace,omitempty"`
	// Backup is the TalosEtcdBackup's name.
	Backup   string   `json:"backup,omitempty"`
	Snapshot Snapshot `json:"snapshot"`
	Pinned   Pinned   `json:"pinned"`

	Step        v1alpha1.RestoreStep `json:"step"`
	RequestedAt time.Time            `json:"requestedAt"`
	StartedAt   time.Time            `json:"startedAt"`
	// LimitsFrom is what the limits count from: StartedAt, or when a person last had
	// the restore go on.
	LimitsFrom time.Time `json:"limitsFrom"`
	// ReconcileRequest is what every machine must echo; Epoch is the number of the
	// restore.
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	Epoch            int64  `json:"epoch"`

	// Nodes are the approved control planes, and the workers, sorted by name.
	Nodes []Node `json:"nodes"`
	// LeftOut are the machines that a person has the restore do without, LeftOutAt is when
	// one was last left out while the others rejoined.
	LeftOut   []Node     `json:"leftOut,omitempty"`
	LeftOutAt *time.Time `json:"leftOutAt,omitempty"`
	// Target is the machine that etcd is recovered on; Own the control plane that hosts
	// the controller, if one does.
	Target    string     `json:"target"`
	Own       string     `json:"own,omitempty"`
	OwnWipeAt *time.Time `json:"ownWipeAt,omitempty"`
	OwnDone   bool       `json:"ownDone,omitempty"`

	RecoverSince  *time.Time `json:"recoverSince,omitempty"`
	BootstrapAt   *time.Time `json:"bootstrapAt,omitempty"`
	BootstrapBoot string     `json:"bootstrapBoot,omitempty"`
	BootstrapOK   bool       `json:"bootstrapOK,omitempty"`
	UploadBoot    string     `json:"uploadBoot,omitempty"`
	RejoinSince   *time.Time `json:"rejoinSince,omitempty"`
	TargetWipes   int        `json:"targetWipes,omitempty"`
	// ExtraWipes are those beyond the first of each node.
	ExtraWipes int `json:"extraWipes,omitempty"`

	// AgentsSince is before the first kubelet was restarted; AgentWarning says what did
	// not come of it.
	AgentsSince  *time.Time `json:"agentsSince,omitempty"`
	AgentWarning string     `json:"agentWarning,omitempty"`
	// Alarms says which alarms came with the snapshot.
	AlarmsAt *time.Time `json:"alarmsAt,omitempty"`
	Alarms   string     `json:"alarms,omitempty"`

	// Etcds are the Etcds as they were at prepare, to hold those that come back at
	// another size.
	Etcds []EtcdSize `json:"etcds,omitempty"`

	// LastNote is what is done or waited for, Failure why the job has given up.
	LastNote string `json:"lastNote,omitempty"`
	Failure  string `json:"failure,omitempty"`
	// TakenOver says of the last takeover from whom, by whom and why.
	TakenOver string `json:"takenOver,omitempty"`
	// JobDone: etcd is recovered and complete; what is left needs Kubernetes.
	JobDone bool `json:"jobDone,omitempty"`
}

// Owner is the one process that may act, until it expires.
type Owner struct {
	Identity string    `json:"identity"`
	Expires  time.Time `json:"expires"`
}

// Operation is the TalosOperation that ordered the restore; empty but for the
// requester if it was ordered by command line.
type Operation struct {
	Namespace string                      `json:"namespace,omitempty"`
	Name      string                      `json:"name,omitempty"`
	UID       string                      `json:"uid,omitempty"`
	Requester string                      `json:"requester,omitempty"`
	Spec      v1alpha1.TalosOperationSpec `json:"spec,omitzero"`
}

// Snapshot is the backup that is restored.
type Snapshot struct {
	Name     string    `json:"name"`
	Time     time.Time `json:"time"`
	Revision int64     `json:"revision,omitempty"`
}

// EtcdSize is the size of an Etcd before the restore.
type EtcdSize struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Replicas  int32  `json:"replicas"`
}
