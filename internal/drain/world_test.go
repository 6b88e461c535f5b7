package drain

import (
	"slices"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// world is an API server: one eviction a pod is noted, and refused where the test says so.
type world struct {
	*fake.Clientset
	mu      sync.Mutex
	evicted []string         // namespace/name of each eviction that was asked for
	refuse  map[string]error // by namespace/name
}

func newWorld(t *testing.T, objects ...runtime.Object) *world {
	t.Helper()
	w := &world{Clientset: fake.NewClientset(objects...), refuse: map[string]error{}}
	w.PrependReactor("list", "pods", w.list)
	w.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "eviction" {
			return false, nil, nil
		}
		return true, nil, w.evict(t, a.(clienttesting.CreateAction).GetObject())
	})
	return w
}

// list keeps to the field selector, which the fake does not.
func (w *world) list(a clienttesting.Action) (bool, runtime.Object, error) {
	all, err := w.Tracker().List(a.GetResource(), corev1.SchemeGroupVersion.WithKind("Pod"), a.GetNamespace())
	if err != nil {
		return true, nil, err
	}
	list := all.(*corev1.PodList)
	where := a.(clienttesting.ListAction).GetListRestrictions().Fields
	list.Items = slices.DeleteFunc(list.Items, func(p corev1.Pod) bool {
		return !where.Matches(fields.Set{"spec.nodeName": p.Spec.NodeName})
	})
	return true, list, nil
}

func (w *world) evict(t *testing.T, o runtime.Object) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := o.(*policyv1.Eviction)
	if !ok {
		t.Errorf("eviction is a %T, want one of policy/v1", o)
		return nil
	}
	pod := e.Namespace + "/" + e.Name
	w.evicted = append(w.evicted, pod)
	if uid := e.DeleteOptions.Preconditions.UID; uid == nil || *uid != types.UID("uid-of-"+e.Name) {
		t.Errorf("eviction of %s is for UID %v, want that of the listed pod", pod, uid)
	}
	if e.DeleteOptions.GracePeriodSeconds != nil {
		t.Errorf("eviction of %s sets a grace of its own", pod)
	}
	return w.refuse[pod]
}

// asked are the evictions since it was called last, sorted.
func (w *world) asked() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	asked := slices.Sorted(slices.Values(w.evicted))
	w.evicted = nil
	return asked
}

// fail makes a verb on a resource fail.
func (w *world) fail(verb, resource string, err error) {
	w.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, err })
}

func (w *world) step(t *testing.T) Progress {
	t.Helper()
	p, err := (&Drainer{Client: w}).Step(t.Context(), "cp-2")
	if err != nil {
		t.Fatalf("Step: %v", err)
	}
	return p
}

func node(ready corev1.ConditionStatus) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "cp-2"},
		Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeMemoryPressure, Status: corev1.ConditionFalse},
			{Type: corev1.NodeReady, Status: ready},
		}},
	}
}

// pod is one of a ReplicaSet on cp-2, changed as the test wants it.
func pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name, UID: types.UID("uid-of-" + name)},
		Spec:       corev1.PodSpec{NodeName: "cp-2"},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	of("ReplicaSet", "shop")(p)
	for _, c := range change {
		c(p)
	}
	return p
}

func of(kind, name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, Controller: new(true)}}
	}
}

func daemonSet(name string) *appsv1.DaemonSet {
	return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "web", Name: name}}
}

func same(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s = %q\nwant %q", what, got, want)
	}
}
