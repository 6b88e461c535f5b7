package v1alpha1

// Reasons of the condition ScaleOperationInProgress. The first three come with
// status True, the last with False.
const (
	// ReasonScalingIn: members beyond spec.replicas are being removed.
	ReasonScalingIn = "ScalingIn"
	// ReasonScalingOut: members are being added, or are joining a source cluster.
	ReasonScalingOut = "ScalingOut"
	// ReasonBootstrapMembersRemoval: source members are being removed.
	ReasonBootstrapMembersRemoval = "BootstrapMembersRemoval"
	// ReasonNoScaleOperation: no membership change is on its way.
	ReasonNoScaleOperation = "NoScaleOperation"
)

// Reasons of the condition Removal of a TalosMachine.
const (
	// ReasonRemovalApproved: every check passed, the removal goes on.
	ReasonRemovalApproved = "RemovalApproved"
	// ReasonEtcdMemberRemovalFailed: neither the machine nor a survivor could
	// remove the etcd member; the finalizer is held.
	ReasonEtcdMemberRemovalFailed = "EtcdMemberRemovalFailed"
	// ReasonNodeNameUnresolved: the machine's Node could not be told; retried.
	ReasonNodeNameUnresolved = "NodeNameUnresolved"
)

// Reasons of events.
const (
	// EventNodeStillHasClusterCredentials warns that a removed machine keeps the
	// cluster's keys until it is reset.
	EventNodeStillHasClusterCredentials = "NodeStillHasClusterCredentials"
	// EventUnknownEtcdMember warns of an etcd member that no TalosMachine explains.
	EventUnknownEtcdMember = "UnknownEtcdMember"
)
