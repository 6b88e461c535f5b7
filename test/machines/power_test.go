package machines

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// powerOff pulls a machine's plug: Talos, etcd and the kubelet are gone. Kubernetes
// would take 50 s to see it; here it knows at once.
func (f *fleet) powerOff(name string) {
	f.t.Helper()
	n := f.talos.Node(name)
	f.kubelets.Silence(n.NodeName())
	n.PowerOff()
	f.heard(n.NodeName(), corev1.ConditionUnknown)
}

func (f *fleet) powerOn(name string) {
	f.t.Helper()
	n := f.talos.Node(name)
	must(f.t, n.PowerOn())
	f.kubelets.Unsilence(n.NodeName())
	f.heard(n.NodeName(), corev1.ConditionTrue)
}

// heard sets the Node's condition Ready.
func (f *fleet) heard(nodeName string, status corev1.ConditionStatus) {
	f.t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	patch := fmt.Appendf(nil, `{"status":{"conditions":[{"type":"Ready","status":%q,"reason":"Test","lastHeartbeatTime":%q,"lastTransitionTime":%q}]}}`, status, now, now)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}
	must(f.t, admin.Status().Patch(f.t.Context(), n, client.RawPatch("application/strategic-merge-patch+json", patch)))
}
