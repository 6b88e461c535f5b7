package drain

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
)

func unmanaged(p *corev1.Pod) { p.OwnerReferences = nil }
func finished(p *corev1.Pod)  { p.Status.Phase = corev1.PodSucceeded }
func elsewhere(p *corev1.Pod) { p.Spec.NodeName = "cp-3" }
func mirror(p *corev1.Pod) {
	p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "cp-2", Controller: new(true)}}
}
func emptyDir(p *corev1.Pod) {
	p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
}

// terminating sets when the pod's own grace is over.
func terminating(over time.Time) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: over} }
}

func TestWhoGoesAndWhoStays(t *testing.T) {
	w := newWorld(t, node(corev1.ConditionTrue), daemonSet("logs"),
		pod("a-replica"), pod("b-emptydir", emptyDir), pod("c-unmanaged", unmanaged), pod("d-both", unmanaged, emptyDir),
		pod("e-daemon-finished", of("DaemonSet", "logs"), finished), pod("f-daemon-orphaned", of("DaemonSet", "gone")),
		pod("daemon", of("DaemonSet", "logs"), emptyDir), pod("mirror", mirror), pod("elsewhere", elsewhere))
	go1 := []string{"web/a-replica", "web/b-emptydir", "web/c-unmanaged", "web/d-both", "web/e-daemon-finished", "web/f-daemon-orphaned"}
	p := w.step(t)
	same(t, "evicted", w.asked(), go1...)
	same(t, "left", p.Left, go1...)
	same(t, "blocked", p.Blocked)
	if p.Done() {
		t.Error("done with pods that were only asked to go")
	}

	for _, name := range go1 {
		w.terminate(t, name[len("web/"):])
	}
	p = w.step(t)
	same(t, "evicted again", w.asked())
	same(t, "left while they terminate", p.Left, go1...)

	for _, name := range go1 {
		w.gone(t, name[len("web/"):])
	}
	if p = w.step(t); !p.Done() {
		t.Errorf("progress = %+v, want done", p)
	}
	same(t, "evicted in the end", w.asked())
}

func (w *world) terminate(t *testing.T, name string) {
	t.Helper()
	p, err := w.CoreV1().Pods("web").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	terminating(time.Now().Add(30 * time.Second))(p)
	if _, err := w.CoreV1().Pods("web").Update(t.Context(), p, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) gone(t *testing.T, name string) {
	t.Helper()
	if err := w.CoreV1().Pods("web").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestTheNodeIsCordonedOnce(t *testing.T) {
	cordoned := node(corev1.ConditionTrue)
	cordoned.Spec.Unschedulable = true
	for name, c := range map[string]struct {
		node    *corev1.Node
		patches []string
	}{
		"schedulable": {node(corev1.ConditionTrue), []string{`{"spec":{"unschedulable":true}}`}},
		"cordoned":    {cordoned, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.node)
			var patches []string
			w.PrependReactor("*", "nodes", func(a clienttesting.Action) (bool, runtime.Object, error) {
				if patch, ok := a.(clienttesting.PatchAction); ok {
					patches = append(patches, string(patch.GetPatch()))
				} else if a.GetVerb() != "get" {
					t.Errorf("%s of a Node", a.GetVerb())
				}
				return false, nil, nil
			})
			for range 3 {
				w.step(t)
			}
			same(t, "patches", patches, c.patches...)
		})
	}
}

func TestANodeThatDoesNotExistIsDrained(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Resource: "nodes"}, "cp-2")
	w := newWorld(t, pod("left-behind"))
	if p := w.step(t); !p.Done() {
		t.Errorf("no Node: progress = %+v, want done", p)
	}
	w = newWorld(t, node(corev1.ConditionTrue), pod("left-behind"))
	w.fail("patch", "nodes", notFound)
	if p := w.step(t); !p.Done() {
		t.Errorf("gone before the cordon: progress = %+v, want done", p)
	}
	same(t, "evicted", w.asked())
}

func TestTerminatingPodsOfADeadNodeDoNotHoldItUp(t *testing.T) {
	noCondition := node(corev1.ConditionTrue)
	noCondition.Status.Conditions = nil
	const long, short = 70 * time.Second, 50 * time.Second
	for name, c := range map[string]struct {
		node *corev1.Node
		over time.Duration // since the pod's own grace was over
		done bool
	}{
		"alive, long over":          {node(corev1.ConditionTrue), long, false},
		"unknown, long over":        {node(corev1.ConditionUnknown), long, true},
		"unknown, just over":        {node(corev1.ConditionUnknown), short, false},
		"unknown, within its grace": {node(corev1.ConditionUnknown), -long, false},
		"not ready, long over":      {node(corev1.ConditionFalse), long, true},
		"never reported, long over": {noCondition, long, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.node, pod("stuck", terminating(time.Now().Add(-c.over))))
			if p := w.step(t); p.Done() != c.done {
				t.Errorf("progress = %+v, want done %t", p, c.done)
			}
			same(t, "evicted", w.asked())
		})
	}
}

func TestRunningPodsOfADeadNodeAreEvicted(t *testing.T) {
	w := newWorld(t, node(corev1.ConditionUnknown), pod("running"))
	same(t, "left", w.step(t).Left, "web/running")
	same(t, "evicted", w.asked(), "web/running")
}
