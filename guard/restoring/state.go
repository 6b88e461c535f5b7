package restoring

import (
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Node is a machine of the cluster as a restore keeps it. Only control planes have
// etcd; workers are kept for their kubelets.
type Node struct {
	// Machine is the TalosMachine's name, or the address where there is none.
	Machine  string               `json:"machine"`
	NodeName string               `json:"nodeName,omitempty"`
	Address  string               `json:"address"`
	Role     v1alpha1.MachineRole `json:"role"`
	// MemberID and PeerURLs are those before the restore; 0 and none if not known.
	MemberID uint64   `json:"memberID,omitempty"`
	PeerURLs []string `json:"peerURLs,omitempty"`
	// BootID is the boot in which the last wipe was asked for; before the first one,
	// the boot that preparing saw.
	BootID string `json:"bootID,omitempty"`
	// Volumes are wiped with EPHEMERAL.
	Volumes []string `json:"volumes,omitempty"`
	// LeftAt is when the own node was asked to leave etcd, or was seen to have left, in
	// the boot BootID. Its etcd stays stopped until it reboots.
	LeftAt *time.Time `json:"leftAt,omitempty"`
	// ResetAt is when the last wipe was asked for, Resets how often; Answered tells
	// whether the node said that it has begun.
	ResetAt  *time.Time `json:"resetAt,omitempty"`
	Resets   int        `json:"resets,omitempty"`
	Answered bool       `json:"answered,omitempty"`
	// StaleWipeAt is when it was last wiped for not coming to the recovered cluster.
	StaleWipeAt *time.Time `json:"staleWipeAt,omitempty"`
	// ListedAt is since when the recovered etcd lists it as no voter yet.
	ListedAt *time.Time `json:"listedAt,omitempty"`
	// AgentAt is when the kubelet of a worker was restarted.
	AgentAt *time.Time `json:"agentAt,omitempty"`
}

// ControlPlane tells whether the node has etcd.
func (n Node) ControlPlane() bool { return n.Role != v1alpha1.MachineWorker }

// State is how far a restore is: what its marker keeps of it. Next answers a new one
// and never changes the one that it was given.
type State struct {
	Step v1alpha1.RestoreStep
	// Since is what the limits count from.
	Since time.Time
	Nodes []Node
	// LeftOut are the machines that a person has the restore do without. Their MemberID is
	// that in the recovered etcd, if they are in it.
	LeftOut []Node
	// LeftOutAt is when one was last left out while the others rejoined; nil if none was.
	LeftOutAt *time.Time
	// Target and Own are names of machines; Own is empty if no control plane hosts the
	// controller.
	Target, Own string
	// Floor is the least revision that only the recovered etcd has.
	Floor     int64
	OwnWipeAt *time.Time
	OwnDone   bool
	// RecoverSince is before the target is touched; BootstrapAt and BootstrapBoot are
	// of the last request to recover; BootstrapOK tells whether the node took it.
	RecoverSince, BootstrapAt *time.Time
	BootstrapBoot             string
	BootstrapOK               bool
	// UploadBoot is the boot in which the target got the snapshot; a reboot of a node
	// that is wiped loses it.
	UploadBoot string
	// RejoinSince is when the target was seen to be recovered.
	RejoinSince, AgentsSince *time.Time
	// TargetWipes counts how often the target was wiped again to recover it anew,
	// ExtraWipes all wipes beyond the first of each node.
	TargetWipes, ExtraWipes int
	AgentWarning            string
	// AlarmsAt is when etcd was asked for alarms after the recovery.
	AlarmsAt *time.Time
	Alarms   string
	Done     bool
	Failure  string
}
