package v1alpha1

// ConditionDeletion of a TalosOperation is present once it is deleted and cannot go yet;
// its message says why.
const ConditionDeletion = "Deletion"

// Reasons of conditions and events of a TalosOperation that restores etcd, besides its
// steps. Those of events are told at the TalosCluster too.
const (
	// ReasonPreparing: nothing is changed yet.
	ReasonPreparing = "Preparing"
	// ReasonRestoreStarted warns that etcd is about to be wiped, and who ordered it.
	ReasonRestoreStarted = "RestoreStarted"
	// ReasonRestoreDoubtful warns of what preparing could not find out, and a person has to
	// see to.
	ReasonRestoreDoubtful = "RestoreDoubtful"
	// ReasonRestoreWaits: the restore waits for what is outside of it, such as the store.
	ReasonRestoreWaits = "RestoreWaits"
	// ReasonRestorePaused: a failure has stopped it.
	ReasonRestorePaused = "RestorePaused"
	// ReasonRestoreResumed: a person has it go on.
	ReasonRestoreResumed = "RestoreResumed"
	// ReasonRestoreRecreated: the rewind took the operation, and it was made again.
	ReasonRestoreRecreated = "RestoreRecreated"
	// ReasonRestoreGivenUp: it was deleted before its end.
	ReasonRestoreGivenUp = "RestoreGivenUp"
	// ReasonRestored: it is over, and every machine is Ready.
	ReasonRestored = "Restored"
	// ReasonStaleData: a machine had data of the old etcd and was wiped again.
	ReasonStaleData = "StaleData"
	// ReasonReleased: a person has let go on what was held.
	ReasonReleased = "Released"
	// ReasonDeletionWaits: it is deleted while its cluster has no etcd.
	ReasonDeletionWaits = "DeletionWaits"
	// ReasonNewerMarker warns of a restore that a newer Quorate began.
	ReasonNewerMarker = "NewerMarker"
)
