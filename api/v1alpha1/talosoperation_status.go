package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OperationPhase is how far an operation is.
// +kubebuilder:validation:Enum=Pending;Running;Paused;Held;Completed
type OperationPhase string

const (
	// PhasePending: accepted, nothing done yet.
	PhasePending OperationPhase = "Pending"
	// PhaseRunning: at work.
	PhaseRunning OperationPhase = "Running"
	// PhasePaused: stopped by a failure; failureReason says which and what next.
	PhasePaused OperationPhase = "Paused"
	// PhaseHeld: brought back by a restore; it waits for a person to release it.
	PhaseHeld OperationPhase = "Held"
	// PhaseCompleted: done. The only phase in which an operation is finished.
	PhaseCompleted OperationPhase = "Completed"
)

// TalosOperationStatus is how far the work is. The controller writes it, nobody
// else.
type TalosOperationStatus struct {
	// observedGeneration is the metadata.generation that the status is about.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// phase is Pending, Running, Paused, Held or Completed.
	// +optional
	Phase OperationPhase `json:"phase,omitempty"`
	// failureReason says why the work is paused and how it goes on.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	FailureReason string `json:"failureReason,omitempty"`
	// etcdRestore is the state of an etcd-restore.
	// +optional
	EtcdRestore *EtcdRestoreStatus `json:"etcdRestore,omitempty"`
	// conditions say how the operation is. Ready: it is completed. Reconciling
	// and Stalled: present only while they are True.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// RestoreStep is a step of an etcd restore.
// +kubebuilder:validation:Enum=Wiping;Recovering;Rejoining;Reconciling
type RestoreStep string

const (
	// StepWiping: the data of every control plane is erased. No way back.
	StepWiping RestoreStep = "Wiping"
	// StepRecovering: one control plane starts etcd from the snapshot.
	StepRecovering RestoreStep = "Recovering"
	// StepRejoining: the other control planes join it.
	StepRejoining RestoreStep = "Rejoining"
	// StepReconciling: every machine reconciles against the restored state.
	StepReconciling RestoreStep = "Reconciling"
)

// EtcdRestoreStatus is the state of an etcd restore.
type EtcdRestoreStatus struct {
	// step is Wiping, Recovering, Rejoining or Reconciling; empty before the
	// first of them, while nothing has been changed.
	// +optional
	Step RestoreStep `json:"step,omitempty"`
	// target is the TalosMachine that etcd is recovered on.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Target string `json:"target,omitempty"`
	// snapshotTime is when the snapshot was taken.
	// +optional
	SnapshotTime *metav1.Time `json:"snapshotTime,omitempty"`
	// requestedAt is when the restore was ordered.
	// +optional
	RequestedAt *metav1.Time `json:"requestedAt,omitempty"`
	// reconcileRequest is the value that every machine must echo in its
	// status.observedReconcileRequest before the restore is done.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ReconcileRequest string `json:"reconcileRequest,omitempty"`
	// message says what is done or waited for, by name.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message,omitempty"`
}
