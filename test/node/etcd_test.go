package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/cluster"
)

var memberNames = []string{"main-0", "main-1", "main-2"}

// TestMembers runs three members of a StatefulSet beside quorate-guard, and does to
// them what nodes and people do.
func TestMembers(t *testing.T) {
	ns := namespace(t, "members")
	install(t, ns)
	for _, name := range memberNames {
		eventually(t, ns, name, "to be ready", isPodReady)
	}
	t.Run("spread over nodes", func(t *testing.T) { spread(t, ns) })
	t.Run("names", func(t *testing.T) { namesResolve(t, ns) })
	t.Run("written through the Service", func(t *testing.T) { written(t, ns) })
	t.Run("container killed", func(t *testing.T) { containerKilled(t, ns) })
	t.Run("pod deleted", func(t *testing.T) { podDeleted(t, ns) })
	t.Run("disk lost", func(t *testing.T) { diskLost(t, ns) })
	t.Run("claim deleted", func(t *testing.T) { claimDeleted(t, ns) })
}

func spread(t *testing.T, ns string) {
	on := map[string]bool{}
	for _, name := range memberNames {
		p, err := pod(t.Context(), ns, name)
		must(t, err)
		on[p.Spec.NodeName] = true
		if !strings.HasPrefix(p.Status.PodIP, "10.77.") || p.Status.HostIP == "" || p.Status.StartTime == nil {
			t.Errorf("%s: addresses %q on %q", name, p.Status.PodIP, p.Status.HostIP)
		}
	}
	if len(on) != len(memberNames) {
		t.Errorf("members run on %v", on)
	}
}

// connect leads to the Service's address.
func connect(t *testing.T, ns string) *clientv3.Client {
	t.Helper()
	dialer := &net.Dialer{Resolver: resolver()}
	c, err := clientv3.New(clientv3.Config{
		Endpoints: []string{"http://main." + ns + ".svc:2379"}, DialTimeout: 10 * time.Second, Context: t.Context(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", address)
		})},
	})
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func written(t *testing.T, ns string) {
	_, err := connect(t, ns).Put(bounded(t), "key", "value")
	must(t, err)
}

// kept tells whether what was written is there, and how many members are.
func kept(t *testing.T, ns string) {
	t.Helper()
	c := connect(t, ns)
	got, err := c.Get(bounded(t), "key")
	must(t, err)
	list, err := c.MemberList(bounded(t))
	must(t, err)
	if len(got.Kvs) != 1 || len(list.Members) != len(memberNames) {
		t.Errorf("%d values and %d members", len(got.Kvs), len(list.Members))
	}
}

func of(statuses []corev1.ContainerStatus, name string) corev1.ContainerStatus {
	for _, s := range statuses {
		if s.Name == name {
			return s
		}
	}
	return corev1.ContainerStatus{}
}

func containerKilled(t *testing.T, ns string) {
	before, err := pod(t.Context(), ns, "main-0")
	must(t, err)
	must(t, nodes.KillContainer(ns, "main-0", "etcd"))
	after := eventually(t, ns, "main-0", "to run again", func(p *corev1.Pod) bool {
		return of(p.Status.ContainerStatuses, "etcd").RestartCount == 1 && isPodReady(p)
	})
	last := of(after.Status.ContainerStatuses, "etcd").LastTerminationState.Terminated
	if last == nil || int(last.ExitCode) != killedCode || last.Reason != "Error" {
		t.Errorf("last state is %v", last)
	}
	was, is := of(before.Status.InitContainerStatuses, "prepare"), of(after.Status.InitContainerStatuses, "prepare")
	if is.RestartCount != was.RestartCount || is.State.Terminated == nil || !is.State.Terminated.StartedAt.Equal(&was.State.Terminated.StartedAt) {
		t.Errorf("prepare ran again: %v, before %v", is, was)
	}
	if after.UID != before.UID || of(after.Status.InitContainerStatuses, "guard").RestartCount != 0 {
		t.Error("more than etcd was started again")
	}
	kept(t, ns)
}

// replaced waits for another pod of the name.
func replaced(t *testing.T, ns string, old *corev1.Pod, what string, check func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	return eventually(t, ns, old.Name, what, func(p *corev1.Pod) bool { return p.UID != old.UID && check(p) })
}

func podDeleted(t *testing.T, ns string) {
	before, err := pod(t.Context(), ns, "main-1")
	must(t, err)
	disk, err := nodes.DiskPath(ns, "data-main-1")
	must(t, err)
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "main-1", metav1.DeleteOptions{}))
	after := replaced(t, ns, before, "to be ready on its disk", isPodReady)
	if again, err := nodes.DiskPath(ns, "data-main-1"); err != nil || again != disk || after.Status.PodIP == before.Status.PodIP {
		t.Errorf("disk %s (%v), before %s; address %s, before %s", again, err, disk, after.Status.PodIP, before.Status.PodIP)
	}
	kept(t, ns)
}

// diskLost: what a member's agent refuses is told in the pod's status.
func diskLost(t *testing.T, ns string) {
	if err := nodes.LoseDisk(ns, "data-main-2"); !errors.Is(err, ErrDiskInUse) {
		t.Fatalf("a disk in use was lost: %v", err)
	}
	before, err := pod(t.Context(), ns, "main-2")
	must(t, err)
	nodes.HoldPod(func(p *corev1.Pod) bool { return p.Namespace == ns && p.Name == "main-2" && p.UID != before.UID })
	defer nodes.HoldPod(nil)
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "main-2", metav1.DeleteOptions{}))
	replaced(t, ns, before, "to be bound", func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	must(t, cluster.Until(bounded(t), "the disk to be free", func(context.Context) error { return nodes.LoseDisk(ns, "data-main-2") }))
	if nodes.Running(ns, "main-2") {
		t.Error("a pod that is held runs")
	}
	nodes.HoldPod(nil)
	replaced(t, ns, before, "to be refused", func(p *corev1.Pod) bool {
		s := of(p.Status.InitContainerStatuses, "prepare")
		for _, state := range []corev1.ContainerState{s.State, s.LastTerminationState} {
			if state.Terminated != nil && state.Terminated.ExitCode == 14 && strings.HasPrefix(state.Terminated.Message, "ErrDiskLost: ") {
				return s.RestartCount > 0 && p.Status.Phase == corev1.PodPending
			}
		}
		return false
	})
}

// claimDeleted: a claim that is deleted stays as long as its pod, and its data too.
func claimDeleted(t *testing.T, ns string) {
	before, err := pod(t.Context(), ns, "main-2")
	must(t, err)
	disk, err := nodes.DiskPath(ns, "data-main-2")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(disk, "mark"), nil, 0o600))
	must(t, client.CoreV1().PersistentVolumeClaims(ns).Delete(t.Context(), "data-main-2", metav1.DeleteOptions{}))
	claim, err := client.CoreV1().PersistentVolumeClaims(ns).Get(t.Context(), "data-main-2", metav1.GetOptions{})
	must(t, err)
	if _, err := os.Stat(filepath.Join(disk, "mark")); err != nil || claim.DeletionTimestamp == nil {
		t.Fatalf("the disk of a pod that lives: %v, claim %v", err, claim.DeletionTimestamp)
	}
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "main-2", metav1.DeleteOptions{}))
	replaced(t, ns, before, "to have a new disk", func(p *corev1.Pod) bool {
		fresh, err := nodes.DiskPath(ns, "data-main-2")
		return err == nil && fresh != disk && p.Spec.NodeName != ""
	})
	must(t, cluster.Until(bounded(t), "the old disk to be erased", func(context.Context) error {
		if _, err := os.Stat(disk); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%w: %v", errNotYet, err)
		}
		return nil
	}))
}
