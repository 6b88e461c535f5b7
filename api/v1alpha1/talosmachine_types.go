package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TalosMachine is one machine of a TalosCluster. Deleting it removes its etcd
// member first; DELETE wants the annotation quorate.dev/allow-delete: "true" and
// is refused where the cluster would lose its quorum or fall below its count.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=talosmachines,singular=talosmachine,shortName=tm,categories=quorate,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`,description="The machine's TalosCluster"
// +kubebuilder:printcolumn:name="Role",type=string,JSONPath=`.spec.role`,description="controlplane or worker"
// +kubebuilder:printcolumn:name="Approved",type=boolean,JSONPath=`.spec.approved`,description="Whether a person let the machine in"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether machine API, Node and etcd member are well"
// +kubebuilder:printcolumn:name="Removal",type=string,JSONPath=`.status.conditions[?(@.type=="Removal")].reason`,description="How far a deletion has come"
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.nodeName`,description="The machine's Node"
// +kubebuilder:printcolumn:name="Address",type=string,priority=1,JSONPath=`.status.address`,description="Where the machine API answered last"
// +kubebuilder:printcolumn:name="Member",type=string,priority=1,JSONPath=`.status.etcdMember.id`,description="The machine's etcd member ID"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TalosMachine struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is asked for.
	// +required
	Spec TalosMachineSpec `json:"spec"`
	// status is what is so; the controller writes it, nobody else.
	// +optional
	Status TalosMachineStatus `json:"status,omitzero"`
}

// MachineRole is what a machine does in its cluster.
// +kubebuilder:validation:Enum=controlplane;worker
type MachineRole string

const (
	// MachineControlPlane runs etcd and the Kubernetes API.
	MachineControlPlane MachineRole = "controlplane"
	// MachineWorker runs neither.
	MachineWorker MachineRole = "worker"
)

// TalosMachineSpec is what is asked of a machine.
type TalosMachineSpec struct {
	// clusterRef names the TalosCluster. It never changes.
	// +required
	ClusterRef LocalRef `json:"clusterRef"`
	// role is controlplane or worker. It never changes.
	// +required
	Role MachineRole `json:"role"`
	// hostname is the machine's host name; what Talos reports when it is left out.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?$`
	Hostname string `json:"hostname,omitempty"`
	// endpoint is the host name or IP address of the machine API, with a port
	// where it is not 50000, e.g. 192.0.2.11. The address that was observed last
	// is tried first.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=300
	Endpoint string `json:"endpoint"`
	// approved is true once a person let the machine in. Only approved control
	// planes count and act for the cluster; false when it is left out.
	// +optional
	// +kubebuilder:default=false
	Approved bool `json:"approved"`
}

// TalosMachineStatus is what is so. The controller writes it, nobody else.
type TalosMachineStatus struct {
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions say how the machine is. Ready: its API answers, its Node is
	// Ready and, for a control plane, its etcd member is healthy. Removal: how
	// far a deletion has come. RebootRequired: a person has to reboot it.
	// Reconciling and Stalled: present only while they are True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// address is where the machine API answered last: host or IP address.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	Address string `json:"address,omitempty"`
	// nodeName is the name of the machine's Node.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	NodeName string `json:"nodeName,omitempty"`
	// etcdMember is the machine's etcd member, recorded while it was healthy.
	// Workers have none.
	// +optional
	EtcdMember *MachineEtcdMember `json:"etcdMember,omitempty"`
	// observedReconcileRequest is the value of the annotation
	// quorate.dev/reconcile-requested that the last whole reconcile saw.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ObservedReconcileRequest string `json:"observedReconcileRequest,omitempty"`
}

// MachineEtcdMember is the etcd member of a control plane.
type MachineEtcdMember struct {
	// id is the member ID.
	// +required
	ID HexID `json:"id"`
	// peerURLs are the member's peer URLs, at most 5.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	PeerURLs []URL `json:"peerURLs,omitempty"`
}

// TalosMachineList is a list of TalosMachine.
//
// +kubebuilder:object:root=true
type TalosMachineList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TalosMachine `json:"items"`
}
