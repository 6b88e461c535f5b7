package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LocalRef names an object in the same namespace.
type LocalRef struct {
	// name is the object's metadata.name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// HexID is an etcd member or cluster ID: lower-case hexadecimal without 0x and
// without leading zeros, as etcdctl prints it.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=16
// +kubebuilder:validation:Pattern=`^[1-9a-f][0-9a-f]*$`
type HexID string

// URL is an http or https address with host and port and no path.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=300
// +kubebuilder:validation:Pattern=`^https?://[^/\s]+:[0-9]{1,5}$`
type URL string

// MemberRole is how a member takes part in raft.
// +kubebuilder:validation:Enum=voter;learner
type MemberRole string

const (
	// RoleVoter counts towards quorum.
	RoleVoter MemberRole = "voter"
	// RoleLearner receives the log and has no vote.
	RoleLearner MemberRole = "learner"
)

// EtcdMember is one member of an etcd cluster as the live member list had it.
type EtcdMember struct {
	// name is the member's name; the empty text for a member that was added and
	// has not started yet.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// id is the member ID.
	// +required
	ID HexID `json:"id"`
	// role is voter or learner. Only voters count towards quorum.
	// +required
	Role MemberRole `json:"role"`
	// started is true once the member has published its client URLs.
	// +required
	Started bool `json:"started"`
	// leader is true for the member that led when the list was read.
	// +required
	Leader bool `json:"leader"`
	// healthy is true when the member answered, saw a leader and is not named by
	// a CORRUPT alarm.
	// +required
	Healthy bool `json:"healthy"`
}

// RemovalState is how far the removal of a member has come.
// +kubebuilder:validation:Enum=intended;confirmed
type RemovalState string

const (
	// RemovalIntended is written before etcd is asked to remove the member.
	RemovalIntended RemovalState = "intended"
	// RemovalConfirmed is written after a linearizable member list lacked it.
	RemovalConfirmed RemovalState = "confirmed"
)

// RemovedMember is one entry of the ledger of removed members. A member in the
// ledger never joins again with its old data. Entries match by id and clusterID,
// never by name, and are pruned when the member's disk is gone.
type RemovedMember struct {
	// id is the member ID that was removed.
	// +required
	ID HexID `json:"id"`
	// name is what the member was called, for people only.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`
	// clusterID is the etcd cluster that the member was removed from.
	// +required
	ClusterID HexID `json:"clusterID"`
	// peerURLs are where the member was, at most 5. A Talos node that reboots joins
	// again by itself, with a new ID at the same place: that is how it is known.
	// Etcd leaves them out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	PeerURLs []URL `json:"peerURLs,omitempty"`
	// state is intended or confirmed.
	// +required
	State RemovalState `json:"state"`
	// at is when the entry took its present state.
	// +required
	At metav1.Time `json:"at"`
}
