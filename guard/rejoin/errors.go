package rejoin

import "errors"

// Why a member is refused. Each is a way of its own out: see Verdict.Reason.
var (
	// ErrMemberPermanentlyRemoved: the disk is that of a member that was removed.
	// It never starts again; a controller deletes it.
	ErrMemberPermanentlyRemoved = errors.New("the member was removed from the cluster for good")
	// ErrMembershipCheckFailed: whether the member was removed cannot be told, since
	// a witness cannot be read.
	ErrMembershipCheckFailed = errors.New("whether the member was removed cannot be told")
	// ErrOtherCluster: disk and cluster do not belong together.
	ErrOtherCluster = errors.New("another cluster than this member's")
	// ErrCopiedVolume: the disk's member is in the cluster under another name.
	ErrCopiedVolume = errors.New("the disk is a copy of another member's")
	// ErrDiskLost: the cluster counts on a member whose log is gone. It must be
	// removed and joined afresh, never started empty: it has promised votes.
	ErrDiskLost = errors.New("the member's disk is lost")
	// ErrBeyondReplicas: the configuration has no place for this ordinal.
	ErrBeyondReplicas = errors.New("the ordinal is beyond the replicas")
)
