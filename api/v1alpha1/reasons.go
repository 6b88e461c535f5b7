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

// Reasons of the condition Quorate.
const (
	// ReasonQuorate: enough voters are healthy.
	ReasonQuorate = "Quorate"
	// ReasonNoQuorum: too few voters are healthy, or none answers.
	ReasonNoQuorum = "NoQuorum"
	// ReasonHibernated: spec.replicas is 0, and nothing runs.
	ReasonHibernated = "Hibernated"
)

// Reasons of the condition Ready of an Etcd, besides those of Quorate.
const (
	// ReasonAsAsked: every member is a healthy voter and runs what spec asks for.
	ReasonAsAsked = "AsAsked"
	// ReasonMemberUnhealthy: a member is missing, ill or not a voter yet.
	ReasonMemberUnhealthy = "MemberUnhealthy"
	// ReasonAlarmRaised: etcd refuses writes, or all requests, for a member's alarm.
	ReasonAlarmRaised = "AlarmRaised"
	// ReasonRollingOut: pods are being restarted for a changed template.
	ReasonRollingOut = "RollingOut"
	// ReasonDecommissioned: every member of this Etcd was removed from a cluster that
	// lives on elsewhere.
	ReasonDecommissioned = "Decommissioned"
	// ReasonLeftoverMembers: own members beyond spec.replicas are in the live list.
	ReasonLeftoverMembers = "LeftoverMembers"
	// ReasonBlocked: an error of lastErrors stands in the way.
	ReasonBlocked = "Blocked"
)

// Reasons of the condition BootstrappedWithExistingCluster.
const (
	// ReasonJoining: members have yet to become voters of the source's cluster.
	ReasonJoining = "Joining"
	// ReasonJoined: all are voters of it.
	ReasonJoined = "Joined"
)

// Reasons of the conditions Reconciling and Stalled of an Etcd.
const (
	// ReasonInProgress: work is being done.
	ReasonInProgress = "InProgress"
	// ReasonDeadlineExceeded: a change made no progress for progressDeadlineSeconds.
	ReasonDeadlineExceeded = "ProgressDeadlineExceeded"
)

// Reasons of the conditions Reconciling and Stalled of every kind whose destructive steps
// wait for a restore, and of Removal.
const (
	// ReasonRestoreInProgress: a restore is on its way, or may be; the work goes on by
	// itself after it.
	ReasonRestoreInProgress = "RestoreInProgress"
	// ReasonHeldByRestore: a restore brought the work back; a person has to release it.
	ReasonHeldByRestore = "HeldByRestore"
)

// Reasons of the condition Removal of a TalosMachine: True while the removal goes on,
// False while something stands in its way.
const (
	// ReasonRemovalRefused: a check does not allow it now; looked at again.
	ReasonRemovalRefused = "RemovalRefused"
	// ReasonRemovalApproved: every check passed, the removal goes on.
	ReasonRemovalApproved = "RemovalApproved"
	// ReasonEvacuating: storage is being moved off the node.
	ReasonEvacuating = "Evacuating"
	// ReasonDraining: pods are being evicted from the node.
	ReasonDraining = "Draining"
	// ReasonLockHeld: another change of the cluster is on its way.
	ReasonLockHeld = "LockHeld"
	// ReasonRemovingEtcdMember: the machine leaves etcd, or is removed from it.
	ReasonRemovingEtcdMember = "RemovingEtcdMember"
	// ReasonEtcdMemberRemovalFailed: neither the machine nor a survivor could
	// remove the etcd member; the finalizer is held.
	ReasonEtcdMemberRemovalFailed = "EtcdMemberRemovalFailed"
	// ReasonNodeNameUnresolved: the machine's Node could not be told; retried.
	ReasonNodeNameUnresolved = "NodeNameUnresolved"
)

// Reasons of the condition Ready of a TalosMachine, besides ReasonAsAsked.
const (
	// ReasonNotApproved: no person has let the machine in.
	ReasonNotApproved = "NotApproved"
	// ReasonClusterNotFound: spec.clusterRef names no TalosCluster.
	ReasonClusterNotFound = "ClusterNotFound"
	// ReasonBundleUnusable: the Secret with the Talos secrets is missing or broken.
	ReasonBundleUnusable = "SecretsBundleUnusable"
	// ReasonMachineUnreachable: the machine API does not answer, or refuses.
	ReasonMachineUnreachable = "MachineUnreachable"
	// ReasonOtherCluster: what answers belongs to another cluster.
	ReasonOtherCluster = "OtherCluster"
	// ReasonNodeNotReady: the machine's Node is missing or not Ready.
	ReasonNodeNotReady = "NodeNotReady"
)

// ReasonConfigurationStaged is the reason of the condition RebootRequired of a
// TalosMachine: it has stored another configuration than the one it runs with.
const ReasonConfigurationStaged = "ConfigurationStaged"

// Reasons of the condition Ready of a TalosCluster, besides ReasonAsAsked,
// ReasonNoQuorum, ReasonMemberUnhealthy, ReasonBundleUnusable and ReasonOtherCluster.
const (
	// ReasonUnknownMember: a member is listed that no approved machine explains.
	ReasonUnknownMember = "UnknownEtcdMember"
	// ReasonCountDiffers: there are more or fewer approved control planes than asked for.
	ReasonCountDiffers = "ControlPlaneCountDiffers"
)

// Reasons of the conditions Ready and Stalled of a TalosEtcdBackup, besides
// ReasonClusterNotFound, ReasonBundleUnusable and ReasonRestoreInProgress.
const (
	// ReasonSnapshotProved: the newest snapshot was read back, decrypted and opened.
	ReasonSnapshotProved = "SnapshotProved"
	// ReasonNoSnapshot: none is in the store yet, and the first is not due.
	ReasonNoSnapshot = "NoSnapshot"
	// ReasonSnapshotFailed: no control plane gave a snapshot, or it could not be looked
	// at.
	ReasonSnapshotFailed = "SnapshotFailed"
	// ReasonSnapshotDamaged: what was read back is not a snapshot that can be restored.
	ReasonSnapshotDamaged = "SnapshotDamaged"
	// ReasonStoreUnusable: the object store's settings are wrong, or it refuses them.
	ReasonStoreUnusable = "ObjectStoreUnusable"
	// ReasonStoreUnreachable: the object store does not answer.
	ReasonStoreUnreachable = "ObjectStoreUnreachable"
	// ReasonScheduleUnusable: spec.schedule is no time that ever comes.
	ReasonScheduleUnusable = "ScheduleUnusable"
)

// Reasons of events of an Etcd.
const (
	// EventScaleOperationStarted and EventScaleOperationEnded frame a change.
	EventScaleOperationStarted = "ScaleOperationStarted"
	EventScaleOperationEnded   = "ScaleOperationEnded"
	// EventMemberRemoved: etcd has removed a member that the controller asked for.
	EventMemberRemoved = "MemberRemoved"
	// EventRemovalWithheld: a removal would have cost the quorum.
	EventRemovalWithheld = "RemovalWithheld"
	// EventLeaderMoved: leadership was moved off a member that goes or restarts.
	EventLeaderMoved = "LeaderMoved"
	// EventMemberReplaced: a member's volume and pod are deleted so that it joins afresh.
	EventMemberReplaced = "MemberReplaced"
	// EventPodRestarted: a pod is deleted for a changed template.
	EventPodRestarted = "PodRestarted"
	// EventBlocked and EventUnblocked: an error of lastErrors came or went.
	EventBlocked   = "Blocked"
	EventUnblocked = "Unblocked"
	// EventQuorumLost and EventQuorate: the condition Quorate changed.
	EventQuorumLost = "QuorumLost"
	EventQuorate    = "Quorate"
	// EventMembersAbandoned warns that a deleted Etcd left members in a shared cluster
	// that did not answer.
	EventMembersAbandoned = "MembersAbandoned"
)

// Reasons of events of a TalosMachine and a TalosCluster; both have EventMemberRemoved
// too, and TalosCluster EventQuorumLost and EventQuorate.
const (
	// EventRemovalApproved and EventRemovalRefused: the checks of a deletion.
	EventRemovalApproved = "RemovalApproved"
	EventRemovalRefused  = "RemovalRefused"
	// EventNodeDrained: the pods of a machine that goes are gone.
	EventNodeDrained = "NodeDrained"
	// EventEtcdMemberRemovalFailed: nobody could remove the machine's member.
	EventEtcdMemberRemovalFailed = "EtcdMemberRemovalFailed"
	// EventMemberRejoined warns that a removed machine is in etcd again.
	EventMemberRejoined = "MemberRejoined"
	// EventNodeStillHasClusterCredentials warns that a removed machine keeps the
	// cluster's keys until it is reset.
	EventNodeStillHasClusterCredentials = "NodeStillHasClusterCredentials"
	// EventUnknownEtcdMember warns of an etcd member that no TalosMachine explains.
	EventUnknownEtcdMember = "UnknownEtcdMember"
)

// Reasons of events of a TalosEtcdBackup.
const (
	// EventBackupProved and EventBackupFailed: the condition Ready changed.
	EventBackupProved = "BackupProved"
	EventBackupFailed = "BackupFailed"
)
