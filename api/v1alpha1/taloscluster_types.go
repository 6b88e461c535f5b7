package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TalosCluster is a Kubernetes cluster on Talos Linux, seen from its etcd: how
// many control planes it shall have, and how its etcd is.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=talosclusters,singular=taloscluster,shortName=tc,categories=quorate,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Control Planes",type=integer,JSONPath=`.spec.controlPlane.count`,description="Control planes asked for"
// +kubebuilder:printcolumn:name="Quorate",type=string,JSONPath=`.status.conditions[?(@.type=="Quorate")].status`,description="Whether enough voters are healthy to commit writes"
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.lock.operation`,description="What holds the cluster's lock"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the cluster is as its spec asks"
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Stalled")].message`,description="What must be healed before the work can go on"
// +kubebuilder:printcolumn:name="Endpoint",type=string,priority=1,JSONPath=`.spec.endpoint`,description="The cluster's Kubernetes API"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TalosCluster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is asked for.
	// +required
	Spec TalosClusterSpec `json:"spec"`
	// status is what is so; the controller writes it, nobody else.
	// +optional
	Status TalosClusterStatus `json:"status,omitzero"`
}

// TalosClusterSpec is what is asked of a Talos cluster.
type TalosClusterSpec struct {
	// endpoint is the URL of the cluster's Kubernetes API, e.g.
	// https://k8s.example.com:6443.
	// +required
	Endpoint URL `json:"endpoint"`
	// controlPlane is the set of machines that run etcd.
	// +required
	ControlPlane ControlPlaneSpec `json:"controlPlane"`
	// secretsBundleRef names the Secret that holds the Talos secrets bundle as
	// YAML under the key bundle.
	// +required
	SecretsBundleRef LocalRef `json:"secretsBundleRef"`
}

// ControlPlaneSpec is the set of machines that run etcd.
type ControlPlaneSpec struct {
	// count is the number of control planes: 1, 3 or 5. An even number tolerates
	// no more failures than the next smaller odd one. A control plane is removed
	// by lowering the count first, one legal step at a time.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=5
	Count int32 `json:"count"`
}

// TalosClusterStatus is what is so. The controller writes it, nobody else.
type TalosClusterStatus struct {
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions say how the cluster is. Quorate: enough voters are healthy to
	// commit writes. Ready: it is as its spec asks. Reconciling and Stalled:
	// present only while they are True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// lock is who changes the cluster just now; absent when nobody does.
	// +optional
	Lock *ClusterLock `json:"lock,omitempty"`
	// members are the members of the cluster's etcd as the live member list had
	// them. At most 16.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=16
	Members []EtcdMember `json:"members,omitempty"`
	// clusterID is etcd's own cluster ID.
	// +optional
	ClusterID HexID `json:"clusterID,omitempty"`
	// removedMembers is the ledger of members that were removed, at most 64. One
	// that joins again with its old data is removed again.
	// +optional
	// +listType=map
	// +listMapKey=clusterID
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=64
	RemovedMembers []RemovedMember `json:"removedMembers,omitempty"`
	// restoreEpoch counts the restores that the cluster has come through.
	// Unfinished work of an earlier epoch is held until a person releases it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RestoreEpoch int64 `json:"restoreEpoch,omitempty"`
}

// ClusterLock is who changes the cluster just now. One change runs at a time.
type ClusterLock struct {
	// holder is the stable identity that holds the lock; after a restart the
	// same holder takes its own lock again.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Holder string `json:"holder"`
	// operation is what the lock is held for, e.g. "remove talosmachine cp-2".
	// +required
	// +kubebuilder:validation:MaxLength=316
	Operation string `json:"operation"`
	// acquiredAt is when the lock was taken.
	// +required
	AcquiredAt metav1.Time `json:"acquiredAt"`
}

// TalosClusterList is a list of TalosCluster.
//
// +kubebuilder:object:root=true
type TalosClusterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TalosCluster `json:"items"`
}
