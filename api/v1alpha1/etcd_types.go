package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Etcd is an etcd cluster that runs as a StatefulSet. Its size is changed by
// spec.replicas alone, with `kubectl scale` or an edit; the controller adds and
// removes the members one by one, and only while the cluster keeps its quorum.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=etcds,singular=etcd,shortName=qe,categories=quorate,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,description="Members asked for"
// +kubebuilder:printcolumn:name="Current",type=integer,JSONPath=`.status.replicas`,description="Members that the StatefulSet runs"
// +kubebuilder:printcolumn:name="Quorate",type=string,JSONPath=`.status.conditions[?(@.type=="Quorate")].status`,description="Whether enough voters are healthy to commit writes"
// +kubebuilder:printcolumn:name="Operation",type=string,JSONPath=`.status.conditions[?(@.type=="ScaleOperationInProgress")].reason`,description="The membership change on its way"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.status.lastOperation.state`,description="How the last reconcile ended"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the cluster is as its spec asks"
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Stalled")].message`,description="What must be healed before the work can go on"
// +kubebuilder:printcolumn:name="Cluster ID",type=string,priority=1,JSONPath=`.status.clusterID`,description="etcd's own cluster ID"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Etcd struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is asked for.
	// +required
	Spec EtcdSpec `json:"spec"`
	// status is what is so; the controller writes it, nobody else.
	// +optional
	Status EtcdStatus `json:"status,omitzero"`
}

// EtcdSpec is what is asked of an etcd cluster.
type EtcdSpec struct {
	// replicas is the number of members that this Etcd runs, 0 to 9. It has no
	// default: leaving it out must never resize a cluster. Odd sizes are meant:
	// an even one tolerates no more failures than the next smaller odd one. 0
	// hibernates the cluster: nothing runs, volumes and membership are kept, and
	// it wakes only at the size it had.
	// +required
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=9
	Replicas *int32 `json:"replicas,omitempty"`
	// storage is the volume of each member.
	// +optional
	// +kubebuilder:default={}
	Storage StorageSpec `json:"storage,omitzero"`
	// etcd is how etcd itself is set up. Everything in it has a default.
	// +optional
	Etcd *EtcdConfig `json:"etcd,omitempty"`
	// progressDeadlineSeconds is how long a membership change may go without
	// progress before the condition Stalled says what holds it up, in seconds;
	// 30 to 86400, 600 when it is left out. Nothing is given up at the deadline.
	// +optional
	// +kubebuilder:default=600
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=86400
	ProgressDeadlineSeconds *int32 `json:"progressDeadlineSeconds,omitempty"`
	// pod is what the members' pods have beyond etcd.
	// +optional
	Pod *PodSettings `json:"pod,omitempty"`
}

// StorageSpec is a member's volume. A change applies to volumes made later.
type StorageSpec struct {
	// size is the capacity that each member's volume asks for, e.g. 8Gi; 8Gi
	// when it is left out.
	// +optional
	// +kubebuilder:default="8Gi"
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:MaxLength=32
	Size *resource.Quantity `json:"size,omitempty"`
	// class is the StorageClass; the cluster's default one when it is left out.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Class *string `json:"class,omitempty"`
}

// EtcdList is a list of Etcd.
//
// +kubebuilder:object:root=true
type EtcdList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Etcd `json:"items"`
}
