package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/test/cluster"
)

// says waits until a container has written a text.
func says(t *testing.T, ns, pod, container, text string) {
	t.Helper()
	must(t, cluster.Until(bounded(t), pod+" to say "+text, func(context.Context) error {
		if log := nodes.Logs(ns, pod, container); !strings.Contains(log, text) {
			return fmt.Errorf("%w: %q", errNotYet, log)
		}
		return nil
	}))
}

// TestConfiguration: variables, files, and files that change while they are read.
func TestConfiguration(t *testing.T) {
	ns := namespace(t, "configuration")
	m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"colour": "green", "text": "colour=green data=/data/x other=/database\n"}}
	_, err := client.CoreV1().ConfigMaps(ns).Create(t.Context(), m, metav1.CreateOptions{})
	must(t, err)
	shell(t, ns, "reads", `echo "$POD $IP $COLOUR $(cat /etc/settings/deep/file)"; `+
		`until grep -q red /etc/settings/deep/file; do sleep 0.05; done; echo changed; `+forever, func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Env = []corev1.EnvVar{
			{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "POD", Value: "$(NAME).$(NONE).$$(NAME)"},
			{Name: "IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}},
			{Name: "COLOUR", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Key: "colour",
			}}},
		}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: "/etc/settings"}, {Name: "data", MountPath: "/data"}}
		p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}, {Name: "settings", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}, Items: []corev1.KeyToPath{{Key: "text", Path: "deep/file"}}},
		}}}
	})
	p := eventually(t, ns, "reads", "to run", isRunning)
	w, err := nodes.worker(ns, "reads")
	must(t, err)
	says(t, ns, "reads", "main", fmt.Sprintf("reads.$(NONE).$(NAME) %s green colour=green data=%s/x other=/database\n", loopback(p.Status.PodIP), w.folders["data"]))
	m.Data["text"] = "red"
	_, err = client.CoreV1().ConfigMaps(ns).Update(t.Context(), m, metav1.UpdateOptions{})
	must(t, err)
	says(t, ns, "reads", "main", "changed")
}

// TestEnd: a pod's containers end before its sidecars, those in reverse, all by TERM.
func TestEnd(t *testing.T) {
	ns := namespace(t, "ends")
	shell(t, ns, "ends", forever, func(p *corev1.Pod) {
		for _, name := range []string{"outer", "inner"} {
			c := script(name, forever)
			c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
			p.Spec.InitContainers = append(p.Spec.InitContainers, c)
		}
	})
	eventually(t, ns, "ends", "to run", isPodReady)
	order := []string{"main", "inner", "outer"}
	for _, c := range order {
		says(t, ns, "ends", c, "began")
	}
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "ends", metav1.DeleteOptions{}))
	last := int64(0)
	for _, c := range order {
		says(t, ns, "ends", c, "ended ")
		_, when, _ := strings.Cut(nodes.Logs(ns, "ends", c), "ended ")
		at, err := strconv.ParseInt(strings.TrimSpace(when), 10, 64)
		if err != nil || at <= last {
			t.Errorf("%s ended at %d (%v), the one before at %d", c, at, err, last)
		}
		last = at
	}
	left(t, ns, "ends")
}

// left waits until the pod is neither in the API nor on this machine.
func left(t *testing.T, ns, name string) {
	t.Helper()
	must(t, cluster.Until(bounded(t), name+" to leave", func(ctx context.Context) error {
		_, err := pod(ctx, ns, name)
		if err == nil || nodes.Running(ns, name) {
			return fmt.Errorf("%w: %v", errNotYet, err)
		}
		return nil
	}))
}

// stubborn does not end when it is asked to.
const stubborn = `trap 'echo asked' TERM; echo began; while :; do sleep 0.1; done`

func TestKillAfterGrace(t *testing.T) {
	ns := namespace(t, "stubborn")
	shell(t, ns, "stays", stubborn, func(p *corev1.Pod) { p.Spec.TerminationGracePeriodSeconds = ptr.To[int64](1) })
	says(t, ns, "stays", "main", "began")
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "stays", metav1.DeleteOptions{}))
	left(t, ns, "stays")
	if log := nodes.Logs(ns, "stays", "main"); !strings.Contains(log, "asked") {
		t.Errorf("it was not asked: %q", log)
	}
}

// TestSilence: a node that is cut off keeps its pod running although the API has
// forgotten it.
func TestSilence(t *testing.T) {
	ns := namespace(t, "silence")
	shell(t, ns, "cut-off", stubborn, on("node-5"))
	says(t, ns, "cut-off", "main", "began")
	nodes.Silence("node-5")
	defer nodes.Unsilence("node-5")
	must(t, client.CoreV1().Pods(ns).Delete(t.Context(), "cut-off", metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}))
	shell(t, ns, "next", forever, on("node-5"))
	eventually(t, ns, "next", "to be bound", func(p *corev1.Pod) bool { return p.Spec.NodeName == "node-5" })
	if !nodes.Running(ns, "cut-off") || nodes.Running(ns, "next") {
		t.Error("a silent node has acted")
	}
	nodes.Unsilence("node-5")
	left(t, ns, "cut-off")
	eventually(t, ns, "next", "to run", isRunning)
}

func TestEndsOfContainers(t *testing.T) {
	ns := namespace(t, "codes")
	shell(t, ns, "fails", "echo last words; exit 7", func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyNever
		p.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	})
	p := eventually(t, ns, "fails", "to fail", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	if end := p.Status.ContainerStatuses[0].State.Terminated; end == nil || end.ExitCode != 7 || end.Message != "last words\n" {
		t.Errorf("it ended with %v", end)
	}
	shell(t, ns, "works", "echo a message >/dev/termination-log", func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure })
	p = eventually(t, ns, "works", "to succeed", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodSucceeded })
	if end := p.Status.ContainerStatuses[0].State.Terminated; end == nil || end.Reason != "Completed" || end.Message != "a message\n" {
		t.Errorf("it ended with %v", end)
	}
	shell(t, ns, "unknown", "", func(p *corev1.Pod) { p.Spec.Containers[0].Command = []string{"none"} })
	eventually(t, ns, "unknown", "to have no image", func(p *corev1.Pod) bool {
		return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Waiting != nil &&
			p.Status.ContainerStatuses[0].State.Waiting.Reason == "ErrImagePull"
	})
}

func TestHalt(t *testing.T) {
	ns := namespace(t, "halt")
	shell(t, ns, "halts", forever)
	says(t, ns, "halts", "main", "began")
	w, err := nodes.worker(ns, "halts")
	must(t, err)
	halted := func(want bool) {
		t.Helper()
		must(t, cluster.Until(bounded(t), "the process to halt or go on", func(context.Context) error {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.members[0].running().PID()))
			if err == nil && strings.Contains(string(stat), ") T ") != want {
				err = fmt.Errorf("%w: %s", errNotYet, stat)
			}
			return err
		}))
	}
	must(t, nodes.Halt(ns, "halts", "main"))
	halted(true)
	must(t, nodes.Resume(ns, "halts", "main"))
	halted(false)
	must(t, nodes.KillPod(ns, "halts"))
	eventually(t, ns, "halts", "to run again", func(p *corev1.Pod) bool {
		return p.Status.ContainerStatuses[0].RestartCount == 1 && p.Status.ContainerStatuses[0].State.Running != nil
	})
	if err := nodes.Halt(ns, "halts", "none"); !errors.Is(err, ErrNoContainer) {
		t.Errorf("a container that is not there: %v", err)
	}
	if err := nodes.KillPod(ns, "none"); !errors.Is(err, ErrNoPod) {
		t.Errorf("a pod that is not there: %v", err)
	}
}
