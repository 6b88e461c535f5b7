package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TalosOperation is one piece of work on a TalosCluster that a person orders,
// such as restoring its etcd from a snapshot. Its spec never changes. Creating
// one that destroys state needs the verb override on the TalosCluster, and only
// one operation of a cluster can be unfinished at a time.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=talosoperations,singular=talosoperation,shortName=top,categories=quorate,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`,description="The TalosCluster that is worked on"
// +kubebuilder:printcolumn:name="Kind",type=string,JSONPath=`.spec.kind`,description="What is done"
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="How far the work is"
// +kubebuilder:printcolumn:name="Step",type=string,JSONPath=`.status.etcdRestore.step`,description="The step that a restore is at"
// +kubebuilder:printcolumn:name="Snapshot",type=string,priority=1,JSONPath=`.spec.etcdRestore.snapshot`,description="The snapshot that is restored"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.etcdRestore.message`,description="What a restore waits for"
// +kubebuilder:printcolumn:name="Failure",type=string,priority=1,JSONPath=`.status.failureReason`,description="Why the work is paused"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TalosOperation struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the order. It never changes.
	// +required
	Spec TalosOperationSpec `json:"spec"`
	// status is how far the work is; the controller writes it, nobody else.
	// +optional
	Status TalosOperationStatus `json:"status,omitzero"`
}

// OperationEtcdRestore is the kind that restores a cluster's etcd from a snapshot.
const OperationEtcdRestore = "etcd-restore"

// TalosOperationSpec is the order.
type TalosOperationSpec struct {
	// kind is what is done: etcd-restore.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Kind string `json:"kind"`
	// clusterRef names the TalosCluster that is worked on.
	// +required
	ClusterRef LocalRef `json:"clusterRef"`
	// etcdRestore says what is restored. The kind etcd-restore wants it, no
	// other kind has it.
	// +optional
	EtcdRestore *EtcdRestoreSpec `json:"etcdRestore,omitempty"`
}

// EtcdRestoreSpec is what is restored. Everything written to the cluster's etcd
// after the snapshot is lost, and the Kubernetes API is away meanwhile.
type EtcdRestoreSpec struct {
	// backupRef names the TalosEtcdBackup that has the snapshot; it must be one
	// of the same cluster.
	// +required
	BackupRef LocalRef `json:"backupRef"`
	// snapshot is the name of one of the backup's status.snapshots, of the form
	// etcd-<time>.snapshot.age, e.g. etcd-20300102T150405Z.snapshot.age.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Snapshot string `json:"snapshot"`
	// confirm repeats the cluster's name, so that nobody restores the wrong one.
	// +required
	// +kubebuilder:validation:MaxLength=253
	Confirm string `json:"confirm"`
	// reason is kept for older clients and not used.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
	// withoutUndo restores without a snapshot of the etcd that is thrown away.
	// One is taken before anything is changed, and a restore that cannot take it
	// is refused; set this where the live etcd can no longer give one. False when
	// it is left out.
	// +optional
	WithoutUndo bool `json:"withoutUndo,omitempty"`
	// allowUnconditionalStore lets the restore run with an object store that
	// ignores conditional writes. Such a store cannot keep two restores of one
	// cluster apart: be sure that no other one runs. False when it is left out.
	// +optional
	AllowUnconditionalStore bool `json:"allowUnconditionalStore,omitempty"`
}

// TalosOperationList is a list of TalosOperation.
//
// +kubebuilder:object:root=true
type TalosOperationList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TalosOperation `json:"items"`
}
