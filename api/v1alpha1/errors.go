package v1alpha1

// ErrorCode tells a failure in status.lastErrors apart from others. The form is
// ERR_ and what failed, in capitals.
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^ERR_[A-Z0-9]+(_[A-Z0-9]+)*$`
type ErrorCode string

// ErrQuorumUnsafeMemberRemoval: a removal was withheld because the cluster would
// have lost quorum. It stays until the removal is safe.
const ErrQuorumUnsafeMemberRemoval ErrorCode = "ERR_QUORUM_UNSAFE_MEMBER_REMOVAL"
