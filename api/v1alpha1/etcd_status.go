package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EtcdStatus is what is so. The controller writes it, nobody else.
type EtcdStatus struct {
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions say how the cluster is. Quorate: enough voters are healthy to
	// commit writes. Ready: it is as its spec asks. ScaleOperationInProgress: a
	// membership change is on its way, by its reason ScalingIn, ScalingOut or
	// BootstrapMembersRemoval; False with NoScaleOperation.
	// BootstrappedWithExistingCluster: every member has joined the source as a
	// voter. Reconciling and Stalled: present only while they are True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// members are all members of the etcd cluster, those of a source included,
	// as the live member list had them. At most 20.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=20
	Members []EtcdMember `json:"members,omitempty"`
	// lastOperation is the last reconcile and how it ended.
	// +optional
	LastOperation *LastOperation `json:"lastOperation,omitempty"`
	// lastErrors are the failures that stand in the way, newest first, at most
	// 10. Each stays until it is resolved.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	LastErrors []LastError `json:"lastErrors,omitempty"`
	// bootstrapWithExistingClusterMembers are the source members that were
	// joined and are not removed yet. Only these can ever be removed by taking
	// them off the spec's list.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	BootstrapWithExistingClusterMembers []BootstrapMember `json:"bootstrapWithExistingClusterMembers,omitempty"`
	// clusterID is etcd's own cluster ID. Once recorded, members join and never
	// form a cluster again.
	// +optional
	ClusterID HexID `json:"clusterID,omitempty"`
	// scaleOperation is the membership change on its way, recorded before it
	// starts; absent when there is none.
	// +optional
	ScaleOperation *ScaleOperation `json:"scaleOperation,omitempty"`
	// removedMembers is the ledger of members that were removed, at most 64.
	// +optional
	// +listType=map
	// +listMapKey=clusterID
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	RemovedMembers []RemovedMember `json:"removedMembers,omitempty"`
	// hibernatedReplicas is the last size above 0. A hibernated cluster wakes at
	// this size only, since its membership is still that large.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	HibernatedReplicas *int32 `json:"hibernatedReplicas,omitempty"`
	// replicas is the number of members that the StatefulSet runs.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas"`
	// selector is the label selector of the members' pods, in text form.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Selector string `json:"selector,omitempty"`
}

// ScaleOperationType is a membership change; the values are the reasons of the
// condition ScaleOperationInProgress.
// +kubebuilder:validation:Enum=ScalingIn;ScalingOut;BootstrapMembersRemoval
type ScaleOperationType string

// The membership changes.
const (
	ScaleIn                ScaleOperationType = ReasonScalingIn
	ScaleOut               ScaleOperationType = ReasonScalingOut
	RemoveBootstrapMembers ScaleOperationType = ReasonBootstrapMembersRemoval
)

// ScaleOperation is the membership change on its way.
type ScaleOperation struct {
	// type is ScalingIn, ScalingOut or BootstrapMembersRemoval.
	// +required
	Type ScaleOperationType `json:"type"`
	// generation is the metadata.generation that asked for it.
	// +required
	// +kubebuilder:validation:Minimum=0
	Generation int64 `json:"generation"`
	// from is the number of members before; 0 for a creation and for a join. A
	// stalled scale-out may be given up by setting spec.replicas back to exactly
	// this number, from 0 to any smaller one above 0.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	From int32 `json:"from"`
	// to is the number of members asked for.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	To int32 `json:"to"`
	// startedAt is when the change was recorded.
	// +required
	StartedAt metav1.Time `json:"startedAt"`
}
