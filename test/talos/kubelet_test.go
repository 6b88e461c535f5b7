package talos

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"google.golang.org/grpc/codes"

	"github.com/quorate/quorate/test/cluster"
)

// TestNodeObjects: each machine has one, with its address, role and boot, and its kubelet
// keeps it and its Lease fresh.
func TestNodeObjects(t *testing.T) {
	c := withKubernetes(t)
	client := clientOf(t, c.Node("cp-1"))
	for _, n := range c.Nodes() {
		must(t, n.Registered(t.Context()))
		found, err := client.CoreV1().Nodes().Get(within(t, 10*time.Second), n.Name, metav1.GetOptions{})
		must(t, err)
		if _, isPlane := found.Labels["node-role.kubernetes.io/control-plane"]; isPlane == n.Worker() {
			t.Errorf("the labels of %s are %v", n.Name, found.Labels)
		}
		if a := found.Status.Addresses; a[0].Address != n.IP || found.Status.NodeInfo.BootID != n.BootID() {
			t.Errorf("%s is at %v in boot %s", n.Name, a, found.Status.NodeInfo.BootID)
		}
	}
	first := beats(t, client, "worker-1")
	until(t, "a later heartbeat in the status and in the Lease", func() bool {
		later := beats(t, client, "worker-1")
		return later[0].After(first[0]) && later[1].After(first[1])
	})
}

// beats are the last heartbeats of a Node's status and of its Lease.
func beats(t *testing.T, client kubernetes.Interface, name string) [2]time.Time {
	t.Helper()
	found, err := client.CoreV1().Nodes().Get(within(t, 10*time.Second), name, metav1.GetOptions{})
	must(t, err)
	lease, err := client.CoordinationV1().Leases("kube-node-lease").Get(within(t, 10*time.Second), name, metav1.GetOptions{})
	must(t, err)
	return [2]time.Time{found.Status.Conditions[0].LastHeartbeatTime.Time, lease.Spec.RenewTime.Time}
}

// counts is a pod on a node that adds a line to a volume at each run of its init container,
// and then says how many there are.
func counts(t *testing.T, client kubernetes.Interface, name string, on *Node) {
	t.Helper()
	mount := []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeName: on.NodeName(), TerminationGracePeriodSeconds: ptr.To[int64](1),
		Volumes:        []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
		InitContainers: []corev1.Container{{Name: "init", Image: "shell", Command: []string{"/bin/sh", "-c", "echo line >>/data/lines"}, VolumeMounts: mount}},
		Containers: []corev1.Container{{Name: "main", Image: "shell", Command: []string{"/bin/sh", "-c",
			`trap 'exit 0' TERM; echo "lines: $(cat /data/lines | wc -l)"; while :; do sleep 0.1; done`}, VolumeMounts: mount}},
	}}
	_, err := client.CoreV1().Pods("default").Create(within(t, 10*time.Second), pod, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		err := client.CoreV1().Pods("default").Delete(ctx, name, *metav1.NewDeleteOptions(0))
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
}

// says waits until the pod has said so, in the order of all its containers' starts that
// the node's disk knows of.
func says(t *testing.T, n *Node, pod string, want ...string) {
	t.Helper()
	text := strings.Join(want, "\n") + "\n"
	must(t, cluster.Until(t.Context(), pod+" on "+n.Name+" to speak", func(context.Context) error {
		pods, err := n.Pods()
		if err != nil {
			return err
		}
		if got := pods.Logs("default", pod, "main"); got != text {
			return fmt.Errorf("it said %q, want %q", got, text)
		}
		return nil
	}))
}

// TestPods: a kubelet runs what is bound to its node, starts a killed container again
// without init, and ends what is deleted.
func TestPods(t *testing.T) {
	c := withKubernetes(t)
	n, client := c.Node("worker-1"), clientOf(t, c.Node("cp-2"))
	counts(t, client, "counts", n)
	says(t, n, "counts", "lines: 1")
	pods, err := n.Pods()
	must(t, err)
	must(t, pods.KillContainer("default", "counts", "main"))
	says(t, n, "counts", "lines: 1", "lines: 1")
	until(t, "a restart in the status", func() bool {
		found, err := client.CoreV1().Pods("default").Get(within(t, 10*time.Second), "counts", metav1.GetOptions{})
		must(t, err)
		s := found.Status
		return len(s.ContainerStatuses) == 1 && s.ContainerStatuses[0].RestartCount == 1 && s.InitContainerStatuses[0].RestartCount == 0 && s.HostIP == n.IP
	})
	must(t, client.CoreV1().Pods("default").Delete(within(t, 10*time.Second), "counts", metav1.DeleteOptions{}))
	until(t, "the pod to end", func() bool { return !pods.Running("default", "counts") })
}

// TestPodsOfAMachineThatReboots: containers begin anew, with init, on the files that they
// have left; a wipe of EPHEMERAL loses these too.
func TestPodsOfAMachineThatReboots(t *testing.T) {
	c := withKubernetes(t)
	n := c.Node("worker-1")
	counts(t, clientOf(t, c.Node("cp-1")), "keeps", n)
	says(t, n, "keeps", "lines: 1")
	must(t, n.Reboot(within(t, time.Minute)))
	must(t, n.Registered(t.Context()))
	says(t, n, "keeps", "lines: 1", "lines: 2")
	must(t, resetEphemeral(t, n, false))
	must(t, n.Registered(t.Context()))
	says(t, n, "keeps", "lines: 1")
}

// TestKubeletRestarts: through the API, and its containers go on; what changed while it
// was cut off it sees then. Its Node is made again if somebody has deleted it.
func TestKubeletRestarts(t *testing.T) {
	c := withKubernetes(t)
	n, client := c.Node("worker-1"), clientOf(t, c.Node("cp-1"))
	for _, name := range []string{"stays", "goes"} {
		counts(t, client, name, n)
		says(t, n, name, "lines: 1")
	}
	pods, err := n.Pods()
	must(t, err)
	pods.Silence(n.NodeName())
	ctx := within(t, time.Minute)
	must(t, client.CoreV1().Pods("default").Delete(ctx, "goes", *metav1.NewDeleteOptions(0)))
	must(t, client.CoreV1().Nodes().Delete(ctx, n.NodeName(), metav1.DeleteOptions{}))
	if !pods.Running("default", "goes") {
		t.Error("a kubelet that is cut off has ended a pod")
	}
	answer, err := admin(t, n).ServiceRestart(within(t, 10*time.Second), "kubelet")
	must(t, err)
	if got := answer.Messages[0].Resp; got != `Service "kubelet" restarted` {
		t.Errorf("the answer is %q", got)
	}
	until(t, "the deleted pod to end", func() bool { return !pods.Running("default", "goes") })
	must(t, n.Registered(t.Context()))
	says(t, n, "stays", "lines: 1")
	_, err = admin(t, n).ServiceStop(within(t, 5*time.Second), "kubelet")
	answers(t, err, codes.Unknown, `service "kubelet" doesn't support stop operation via API`)
}
