package restore

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
)

// What a rewind brings back unfinished would go on by itself, on the word of a state
// that is not any more. It is held until a person releases it.

// unfinishedMachine tells why a machine that came back is held; empty if it is not.
func unfinishedMachine(m *v1alpha1.TalosMachine) string {
	if m.DeletionTimestamp.IsZero() {
		return ""
	}
	return "it is being deleted, as it was at the snapshot"
}

// unfinishedEtcd tells why an Etcd that came back is held. before is its size when the
// restore began; known is false if there was none of the name.
func unfinishedEtcd(e *v1alpha1.Etcd, before int32, known bool) string {
	switch {
	case !e.DeletionTimestamp.IsZero():
		return "it is being deleted, as it was at the snapshot"
	case meta.IsStatusConditionTrue(e.Status.Conditions, v1alpha1.ConditionScaleOperationInProgress):
		return "a membership change is on its way, as it was at the snapshot"
	case known && sizeOf(e) != before:
		return fmt.Sprintf("it asks for %d members, as it did at the snapshot, and for %d when the restore began", sizeOf(e), before)
	}
	return ""
}

// sizeOf is how many members an Etcd asks for.
func sizeOf(e *v1alpha1.Etcd) int32 { return ptr.Deref(e.Spec.Replicas, 0) }

// unfinishedOperation tells whether an operation that came back is held.
func unfinishedOperation(o *v1alpha1.TalosOperation) bool {
	return o.Status.Phase != v1alpha1.PhaseCompleted && o.Status.Phase != v1alpha1.PhaseHeld
}
