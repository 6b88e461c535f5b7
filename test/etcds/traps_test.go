package etcds

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Etcd a and Etcd a-1 in one namespace: pods a-1 and a-1-0, volumes data-a-1 and
// data-a-1-0. Each is scaled and takes only its own.
//
//
func TestNameWithinAName(t *testing.T) {
	t.Parallel()
	short := &plant{t: t, ns: newNamespace(t), name: "a"}
	long := &plant{t: t, ns: short.ns, name: "a-1"}
	short.create(3)
	long.create(1)
	short.settled(3)
	long.settled(1)
	short.want(3)
	long.want(1)
	short.put("short")
	long.put("long")
	pods := long.podUIDs()
	short.scale(1)
	long.scale(2)
	short.settled(1)
	long.settled(2)
	short.want(1)
	long.want(2)
	short.kept()
	long.kept()
	if uid := long.podUIDs()["a-1-0"]; uid != pods["a-1-0"] {
		t.Error("pod a-1-0 was made anew")
	}
}

// An Etcd called main-peer wants a Service main-peer, which is that of the members of
// Etcd main. It says so and touches nothing; once main is gone, it goes on.
func TestServiceNameIsTaken(t *testing.T) {
	t.Parallel()
	first := newPlant(t, 1)
	first.put("one")
	before := first.serviceOf("main-peer")
	second := &plant{t: t, ns: first.ns, name: "main-peer"}
	second.create(1)
	second.blockedBy(v1alpha1.ErrForeignResource, "Service main-peer")
	second.told("Blocked: ERR_FOREIGN_RESOURCE: Service main-peer")
	second.passes(2)
	if after := first.serviceOf("main-peer"); after.ResourceVersion != before.ResourceVersion {
		t.Errorf("Service main-peer was changed: %v", after.Spec)
	}
	first.settled(1)
	first.kept()
	first.clear()
	second.settled(1)
	second.want(1)
}

func (p *plant) serviceOf(name string) *corev1.Service {
	p.t.Helper()
	s := &corev1.Service{}
	must(p.t, admin.Get(p.t.Context(), client.ObjectKey{Namespace: p.ns, Name: name}, s))
	return s
}

// Objects of other people with the names that are needed hold the Etcd up, and are
// named; they stay as they are. Without them it goes on.
func TestForeignObjects(t *testing.T) {
	t.Parallel()
	p := &plant{t: t, ns: newNamespace(t), name: "main"}
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: p.ns, Name: name} }
	service := &corev1.Service{ObjectMeta: meta("main"), Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "other"}, Ports: []corev1.ServicePort{{Port: 80}}}}
	config := &corev1.ConfigMap{ObjectMeta: meta("main-guard"), Data: map[string]string{"theirs": "x"}}
	foreign := []client.Object{service, config}
	for _, o := range foreign {
		must(t, admin.Create(t.Context(), o))
	}
	p.create(1)
	p.blockedBy(v1alpha1.ErrForeignResource, "Service main:")
	p.blockedBy(v1alpha1.ErrForeignResource, "ConfigMap main-guard:")
	version := []string{service.ResourceVersion, config.ResourceVersion}
	for i, o := range foreign {
		must(t, admin.Get(t.Context(), client.ObjectKeyFromObject(o), o))
		if o.GetResourceVersion() != version[i] || len(o.GetOwnerReferences()) > 0 {
			t.Errorf("%s was changed", o.GetName())
		}
		must(t, admin.Delete(t.Context(), o))
	}
	p.settled(1)
	p.want(1)
}

// A person who breaks the client Service's selector or deletes an object of a running
// Etcd sees it come back; no member is harmed.
func TestObjectsAreRestored(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 1)
	p.put("one")
	before := p.podUIDs()
	must(t, admin.Patch(t.Context(), p.serviceOf("main"), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"selector":{"app.kubernetes.io/instance":"nobody"}}}`))))
	must(t, admin.Delete(t.Context(), p.serviceOf("main-peer")))
	must(t, admin.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: "main-guard"}}))
	p.until("Services and ConfigMap to be back", func(*v1alpha1.Etcd) error {
		if s := p.serviceOf("main"); s.Spec.Selector["app.kubernetes.io/instance"] != "main" {
			return errNotYet
		}
		for _, o := range []client.Object{
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: "main-peer"}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: "main-guard"}},
		} {
			if err := admin.Get(t.Context(), client.ObjectKeyFromObject(o), o); apierrors.IsNotFound(err) {
				return errNotYet
			}
		}
		return nil
	})
	p.settled(1)
	p.kept()
	if after := p.podUIDs(); after[p.pod(0)] != before[p.pod(0)] {
		t.Error("the pod was made anew")
	}
	if names := p.names(); !slices.Equal(names, []string{"main-0"}) {
		t.Errorf("members %v", names)
	}
}
