package restore

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// proxies is kube-proxy, and a pod of it on the worker.
func proxies(name string, made time.Time) (*appsv1.DaemonSet, *corev1.Pod) {
	labels := map[string]string{"k8s-app": "kube-proxy"}
	set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-proxy", UID: "proxies"},
		Spec: appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: name, UID: types.UID(name), Labels: labels, CreationTimestamp: metav1.NewTime(made),
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "kube-proxy", UID: "proxies", Controller: ptr.To(true)}}},
		Spec: corev1.PodSpec{NodeName: "worker-1"}, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}}
	return set, pod
}

// afterwards is a world with a worker that was not wiped, whose kubelet was restarted.
func afterwards(t *testing.T) *world {
	t.Helper()
	set, old := proxies("kube-proxy-old", taken)
	w := newWorld(t, ready("worker-1"), set, old)
	w.look()
	w.edit(func(m *restore.Marker) {
		m.Step, m.JobDone, m.AgentsSince = v1alpha1.StepRejoining, true, ptr.To(start.Add(time.Minute))
		m.Nodes = append(m.Nodes, restore.Node{Machine: "worker-1", NodeName: "worker-1", Role: v1alpha1.MachineWorker})
	})
	w.clock.SetTime(start.Add(2 * time.Minute))
	return w
}

func (w *world) beat(at time.Time) {
	w.t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: "worker-1"}, Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: at}}}
	if err := w.api.Create(w.t.Context(), lease); err != nil {
		w.t.Fatal(err)
	}
}

// A worker's kubelet comes first, then its older kube-proxy is replaced, and only then
// are machines asked.
//
// covers: C-21
func TestWorkerLetsGoOfTheOldState(t *testing.T) {
	w := afterwards(t)
	w.says("Rejoining: waiting for a heartbeat of Node worker-1 from after 2030-01-02T15:01:00Z, when its kubelet was restarted.")
	w.beat(start.Add(90 * time.Second))
	w.says("Rejoining: waiting for pod kube-proxy-old of Node worker-1 to go, a new pod of kube-proxy on Node worker-1 to be Ready.")
	w.says("Rejoining: waiting for a new pod of kube-proxy on Node worker-1 to be Ready.")
	_, fresh := proxies("kube-proxy-new", start.Add(100*time.Second))
	if err := w.api.Create(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	w.look()
	if m := w.loaded(); m.Step != v1alpha1.StepReconciling || m.AgentWarning != "" {
		t.Errorf("at %s, warning %q", m.Step, m.AgentWarning)
	}
}

// says looks, and wants this message.
func (w *world) says(want string) {
	w.t.Helper()
	w.look()
	if got := w.op().Status.EtcdRestore.Message; got != want {
		w.t.Errorf("it says %q, want %q", got, want)
	}
}

// After ten minutes it goes on, and says at its end what did not come of it.
//
// covers: C-21
func TestWorkerTakesTooLong(t *testing.T) {
	w := afterwards(t)
	w.look()
	w.clock.SetTime(start.Add(13 * time.Minute))
	w.look()
	want := "Not all of the nodes that were not wiped have let go of the old state within 10m0s: it was still waited for a heartbeat of Node worker-1 from after 2030-01-02T15:01:00Z, when its kubelet was restarted. Restart what is named there."
	if m := w.loaded(); m.Step != v1alpha1.StepReconciling || m.AgentWarning != want {
		t.Fatalf("at %s, warning %q", m.Step, m.AgentWarning)
	}
	w.echo()
	w.look()
	if o := w.op(); o.Status.Phase != v1alpha1.PhaseCompleted || !strings.HasSuffix(o.Status.EtcdRestore.Message, want) {
		t.Errorf("%s: %q", o.Status.Phase, o.Status.EtcdRestore.Message)
	}
}

// A machine that was wiped again has a condition that says when, whoever runs next.
//
// covers: C-18
func TestStaleWipeIsShown(t *testing.T) {
	w := newWorld(t)
	w.look()
	w.edit(func(m *restore.Marker) { m.Node("cp-2").StaleWipeAt = ptr.To(start.Add(time.Minute)) })
	w.restart()
	w.look()
	c := meta.FindStatusCondition(w.op().Status.Conditions, "StaleWipeSent-cp-2")
	if want := "It had data of the old etcd and was wiped again at 2030-01-02T15:01:00Z."; c == nil || c.Message != want {
		t.Errorf("condition %+v, want the message %q", c, want)
	}
}
