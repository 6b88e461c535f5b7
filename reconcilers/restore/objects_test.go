package restore

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

func quay() *v1alpha1.TalosCluster {
	return &v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay", UID: "quay-1"}}
}

func nightly() *v1alpha1.TalosEtcdBackup {
	return &v1alpha1.TalosEtcdBackup{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "nightly"},
		Spec:       v1alpha1.TalosEtcdBackupSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}},
	}
}

func order() *v1alpha1.TalosOperation {
	return &v1alpha1.TalosOperation{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rewind", UID: "rewind-1", CreationTimestamp: metav1.NewTime(start.Add(-time.Minute)),
			Annotations: map[string]string{v1alpha1.AnnotationRequestedBy: "alice@example.com"}},
		Spec: v1alpha1.TalosOperationSpec{Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: "quay"},
			EtcdRestore: &v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: "nightly"}, Snapshot: shot, Confirm: "quay"}},
	}
}

func plane(n int) *v1alpha1.TalosMachine {
	return &v1alpha1.TalosMachine{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("cp-%d", n)},
		Spec: v1alpha1.TalosMachineSpec{ClusterRef: v1alpha1.LocalRef{Name: "quay"}, Role: v1alpha1.MachineControlPlane, Approved: true,
			Endpoint: fmt.Sprintf("192.0.2.%d", n)},
		Status: v1alpha1.TalosMachineStatus{Conditions: []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue}}},
	}
}

func ready(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}}}
}
