package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastOperationType is what a reconcile set out to do.
// +kubebuilder:validation:Enum=Create;Reconcile;Delete
type LastOperationType string

// What a reconcile sets out to do.
const (
	OperationCreate    LastOperationType = "Create"
	OperationReconcile LastOperationType = "Reconcile"
	OperationDelete    LastOperationType = "Delete"
)

// LastOperationState is how a reconcile ended.
// +kubebuilder:validation:Enum=Processing;Succeeded;Error;Requeue
type LastOperationState string

const (
	// StateProcessing: the reconcile has not ended yet.
	StateProcessing LastOperationState = "Processing"
	// StateSucceeded: nothing is left to do.
	StateSucceeded LastOperationState = "Succeeded"
	// StateError: it failed, lastErrors say why; it is tried again.
	StateError LastOperationState = "Error"
	// StateRequeue: a step was taken and more are to come.
	StateRequeue LastOperationState = "Requeue"
)

// LastOperation is the last reconcile.
type LastOperation struct {
	// type is Create, Reconcile or Delete.
	// +required
	Type LastOperationType `json:"type"`
	// state is Processing, Succeeded, Error or Requeue.
	// +required
	State LastOperationState `json:"state"`
	// description says in a sentence what was done or what is waited for.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description,omitempty"`
	// runID finds this reconcile in the controller's log.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	RunID string `json:"runID,omitempty"`
	// lastUpdateTime is when this entry was written.
	// +required
	LastUpdateTime metav1.Time `json:"lastUpdateTime"`
}

// LastError is a failure that stands in the way.
type LastError struct {
	// code tells the failure apart from others, e.g.
	// ERR_QUORUM_UNSAFE_MEMBER_REMOVAL.
	// +required
	Code ErrorCode `json:"code"`
	// description says what was seen, with names, and what to do.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	Description string `json:"description"`
	// observedAt is when the failure was last seen.
	// +required
	ObservedAt metav1.Time `json:"observedAt"`
}
