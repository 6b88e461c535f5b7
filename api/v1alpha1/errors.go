package v1alpha1

// ErrorCode tells a failure in status.lastErrors apart from others. The form is
// ERR_ and what failed, in capitals.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^ERR_[A-Z0-9]+(_[A-Z0-9]+)*$`
type ErrorCode string

// ErrQuorumUnsafeMemberRemoval: a removal was withheld because the cluster would
// have lost quorum. It stays until the removal is safe.
const ErrQuorumUnsafeMemberRemoval ErrorCode = "ERR_QUORUM_UNSAFE_MEMBER_REMOVAL"

// What else can stand in the way of an Etcd.
const (
	// ErrListMembers: the cluster gave no linearizable member list.
	ErrListMembers ErrorCode = "ERR_LIST_MEMBERS"
	// ErrRemoveMember: etcd was asked to remove a member and did not.
	ErrRemoveMember ErrorCode = "ERR_REMOVE_MEMBER"
	// ErrMoveLeader: leadership could not be moved off a member that is to go.
	ErrMoveLeader ErrorCode = "ERR_MOVE_LEADER"
	// ErrOtherCluster: another etcd cluster answers than the recorded one.
	ErrOtherCluster ErrorCode = "ERR_OTHER_CLUSTER"
	// ErrReadTLS: a Secret that spec names is missing or holds no usable certificate.
	ErrReadTLS ErrorCode = "ERR_READ_TLS"
	// ErrSyncResource: an object of the cluster could not be written.
	ErrSyncResource ErrorCode = "ERR_SYNC_RESOURCE"
	// ErrForeignResource: an object of a name that is needed belongs to somebody else.
	ErrForeignResource ErrorCode = "ERR_FOREIGN_RESOURCE"
	// ErrLedgerFull: no removal can be recorded any more.
	ErrLedgerFull ErrorCode = "ERR_LEDGER_FULL"
	// ErrLockHeld: another Etcd that shares the cluster changes its membership.
	ErrLockHeld ErrorCode = "ERR_MEMBERSHIP_LOCK"
	// ErrReplaceMember: a member's disk cannot be used, and is not the controller's to
	// delete.
	ErrReplaceMember ErrorCode = "ERR_REPLACE_MEMBER"
)
