package restoreplan

import (
	"time"

	"github.com/quorate/quorate/guard/restoring"
)

// Plan is what a restore would do. Times are in UTC.
type Plan struct {
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	Backup    string `json:"backup"`
	Snapshot  string `json:"snapshot"`
	// SnapshotTime and SnapshotRevision are when the snapshot was taken, by the clock and
	// by etcd; the revision is 0 if nobody has recorded it.
	SnapshotTime     time.Time `json:"snapshot_time"`
	SnapshotRevision int64     `json:"snapshot_revision,omitempty"`
	// Steps say what happens, in order.
	Steps []string `json:"steps"`
	Lost  Lost     `json:"lost"`
	// ControlPlanes are the approved ones, by their TalosMachines; Target is the one that
	// etcd is recovered on, ControllerOn the one that the controller runs on, empty if it
	// runs on none.
	ControlPlanes []string `json:"control_planes"`
	Target        string   `json:"target,omitempty"`
	ControllerOn  string   `json:"controller_on,omitempty"`
	Nodes         Nodes    `json:"nodes"`
	// Objects are those that differ; nil if they could not be compared.
	Objects *Differences `json:"objects,omitempty"`
	// Alarms are those of etcd as it is now.
	Alarms   []string `json:"alarms,omitempty"`
	Warnings []string `json:"warnings"`
	// Unknown says what could not be read or compared, and why.
	Unknown []string `json:"unknown,omitempty"`
	// Blocked is what stands in the way; the restore can begin if it is empty.
	Blocked []restoring.Block `json:"blocked,omitempty"`
	// ConfirmName is what the requester must repeat.
	ConfirmName string `json:"confirm_name"`
	// OverrideRequired: the requester needs the verb override on the cluster. Always so.
	OverrideRequired bool `json:"override_required"`
	// RecoverCommand finishes the restore without Kubernetes.
	RecoverCommand string `json:"recover_command"`
}

// Lost is what the rewind takes away.
type Lost struct {
	Since   time.Time `json:"since"`
	Seconds int64     `json:"seconds"`
	// Revisions are the changes of etcd since the snapshot, 0 if that cannot be said.
	Revisions int64 `json:"revisions,omitempty"`
}

// Nodes are the control planes at the snapshot and now.
type Nodes struct {
	// Then are the members of etcd at the snapshot, by name; empty if not known.
	Then []string `json:"then,omitempty"`
	Now  []string `json:"now"`
	// Removed were members then and are no control plane now; Added the reverse.
	Removed []string `json:"removed,omitempty"`
	Added   []string `json:"added,omitempty"`
}
