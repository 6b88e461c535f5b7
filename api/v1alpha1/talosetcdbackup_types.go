package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TalosEtcdBackup takes snapshots of a TalosCluster's etcd on a schedule,
// verifies and encrypts them, and keeps them in an object store. A snapshot is
// listed only once it is whole.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=talosetcdbackups,singular=talosetcdbackup,shortName=teb,categories=quorate,scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Cluster",type=string,JSONPath=`.spec.clusterRef.name`,description="The TalosCluster that is backed up"
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`,description="When snapshots are taken"
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the last snapshot was taken and proved"
// +kubebuilder:printcolumn:name="Latest",type=date,JSONPath=`.status.snapshots[0].time`,description="How old the newest snapshot is"
// +kubebuilder:printcolumn:name="Waiting For",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Stalled")].message`,description="What must be healed before the work can go on"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type TalosEtcdBackup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what is asked for.
	// +required
	Spec TalosEtcdBackupSpec `json:"spec"`
	// status is what is so; the controller writes it, nobody else.
	// +optional
	Status TalosEtcdBackupStatus `json:"status,omitzero"`
}

// TalosEtcdBackupSpec is what is asked of a backup.
type TalosEtcdBackupSpec struct {
	// clusterRef names the TalosCluster that is backed up.
	// +required
	ClusterRef LocalRef `json:"clusterRef"`
	// schedule says when snapshots are taken: five cron fields in UTC, or one of
	// @hourly, @daily and @weekly.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=100
	// +kubebuilder:validation:Pattern=`^(@hourly|@daily|@weekly|[^\s@]+(\s+[^\s]+){4})$`
	Schedule string `json:"schedule"`
	// retention is the number of snapshots that are kept, the newest first; 1 to
	// 500, 48 when it is left out.
	// +optional
	// +kubebuilder:default=48
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=500
	Retention int32 `json:"retention,omitempty"`
	// objectStore is where snapshots are kept.
	// +required
	ObjectStore ObjectStore `json:"objectStore"`
}

// DefaultRegion is that of a store whose region is left out.
const DefaultRegion = "us-east-1"

// ObjectStore is a bucket that speaks the S3 protocol.
type ObjectStore struct {
	// endpoint is the store's URL; AWS's own of the region when it is left out.
	// +optional
	// +kubebuilder:validation:MaxLength=300
	// +kubebuilder:validation:Pattern=`^https?://[^\s]+$`
	Endpoint string `json:"endpoint,omitempty"`
	// region is the store's region; us-east-1 when it is left out.
	// +optional
	// +kubebuilder:default="us-east-1"
	// +kubebuilder:validation:MaxLength=63
	Region string `json:"region,omitempty"`
	// bucket is the bucket's name.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=63
	Bucket string `json:"bucket"`
	// prefix is the folder within the bucket, without a slash at either end; the
	// bucket's root when it is left out.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[^/\s]+(/[^/\s]+)*$`
	Prefix string `json:"prefix,omitempty"`
	// credentialsRef names a Secret with the keys accessKeyID and
	// secretAccessKey, and with ca.crt where the store's certificate is signed by a CA
	// that the system does not trust: certificates in PEM.
	// +required
	CredentialsRef LocalRef `json:"credentialsRef"`
}

// TalosEtcdBackupStatus is what is so. The controller writes it, nobody else.
type TalosEtcdBackupStatus struct {
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// conditions say how the backup is. Ready: the last snapshot was taken and
	// proved. Reconciling and Stalled: present only while they are True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// observedBackupRequest is the value of the annotation
	// quorate.dev/backup-requested that a snapshot was last taken for.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ObservedBackupRequest string `json:"observedBackupRequest,omitempty"`
	// snapshots are those in the store, newest first, at most 500; refreshed
	// after each backup and each pruning.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=500
	Snapshots []Snapshot `json:"snapshots,omitempty"`
}

// Snapshot is one snapshot in the object store.
type Snapshot struct {
	// name is the object's name without the prefix, e.g.
	// etcd-20300102T150405Z.snapshot.age.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	// time is when the snapshot was taken.
	// +required
	Time metav1.Time `json:"time"`
	// size is the size of the encrypted object, in bytes.
	// +required
	// +kubebuilder:validation:Minimum=0
	Size int64 `json:"size"`
	// revision is etcd's revision at the snapshot.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Revision int64 `json:"revision,omitempty"`
	// verified is when the snapshot was last read back from the store, decrypted, and
	// opened.
	// +optional
	Verified *metav1.Time `json:"verified,omitempty"`
	// undoOf names the restore that this snapshot leads back from: it was taken just
	// before.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	UndoOf string `json:"undoOf,omitempty"`
}

// TalosEtcdBackupList is a list of TalosEtcdBackup.
//
// +kubebuilder:object:root=true
type TalosEtcdBackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TalosEtcdBackup `json:"items"`
}
