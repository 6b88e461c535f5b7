package v1alpha1

// Condition types that every kind has, as kstatus reads them.
const (
	// ConditionReady is True when the object is as its spec asks.
	ConditionReady = "Ready"
	// ConditionReconciling is True only while the controller is at work on the
	// object; it is absent otherwise.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True only when the work makes no progress by itself;
	// its message names what to heal. It is absent otherwise.
	ConditionStalled = "Stalled"
)

// ConditionQuorate is True while enough voters are healthy for etcd to commit
// writes. Etcd and TalosCluster have it.
const ConditionQuorate = "Quorate"

// Condition types of Etcd.
const (
	// ConditionScaleOperationInProgress is True while a membership change is on
	// its way; its reason says which. Admission refuses what would cross it.
	ConditionScaleOperationInProgress = "ScaleOperationInProgress"
	// ConditionBootstrappedWithExistingCluster is True once every member of the
	// Etcd has joined the source's cluster as a voter.
	ConditionBootstrappedWithExistingCluster = "BootstrappedWithExistingCluster"
)

// Condition types of TalosMachine and TalosOperation.
const (
	// ConditionRemoval says how far a TalosMachine's deletion has come.
	ConditionRemoval = "Removal"
	// ConditionRebootRequired is True when a TalosMachine's node must be
	// rebooted by a person before it runs with the configuration that it has
	// stored. A restore waits for that.
	ConditionRebootRequired = "RebootRequired"
	// ConditionStaleWipeSentPrefix and a machine's name make the condition type
	// by which a restore remembers that it asked that machine to wipe stale data.
	ConditionStaleWipeSentPrefix = "StaleWipeSent-"
)
