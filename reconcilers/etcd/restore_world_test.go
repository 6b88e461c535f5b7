package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// destroyed is an Etcd main of three members that is to lose something. It notes each
// step that cannot be undone.
type destroyed struct {
	t       *testing.T
	api     client.WithWatch
	r       *Reconciler
	members []guard.Member
	done    []string
	// asked is set once the gate was since the cycle began, and why is its answer.
	asked   bool
	why     string
	gateErr error
}

var destroyedAt = time.Date(2030, 1, 2, 15, 4, 5, 0, time.UTC)

func newDestroyed(t *testing.T, change func(*destroyedObjects)) *destroyed {
	t.Helper()
	scheme, err := Scheme()
	if err != nil {
		t.Fatal(err)
	}
	o := newDestroyedObjects()
	change(o)
	d := &destroyed{t: t, members: o.members}
	d.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&v1alpha1.Etcd{}).WithObjects(o.all()...).Build()
	api := d.client()
	d.r = &Reconciler{
		Client: api, Live: api, Events: events.NewFakeRecorder(1000), Clock: clocktesting.NewFakePassiveClock(destroyedAt), Log: logr.Discard(), Gate: d,
		Dial: func(context.Context, etcdclient.Options) (Cluster, error) { return destroyedEtcd{d}, nil },
	}
	return d
}

// destroyedObjects are what the world begins with.
type destroyedObjects struct {
	etcd    *v1alpha1.Etcd
	set     *appsv1.StatefulSet
	pods    []*corev1.Pod
	claims  []*corev1.PersistentVolumeClaim
	members []guard.Member
}

func newDestroyedObjects() *destroyedObjects {
	e := &v1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Namespace: "plant", Name: "main", UID: "main", Finalizers: []string{v1alpha1.FinalizerEtcd}}}
	e.Spec.Replicas, e.Status.ClusterID, e.Status.HibernatedReplicas = ptr.To[int32](3), "c1", ptr.To[int32](3)
	c := &cycle{Reconciler: &Reconciler{}, names: names{e}, etcd: e}
	o := &destroyedObjects{etcd: e}
	o.set, _ = c.statefulSet(3) // it prints
	o.set.UID, o.set.Status.UpdateRevision = "set", "r2"
	for i := range 3 {
		name := c.names.pod(i)
		pod := &corev1.Pod{ObjectMeta: c.meta(name)}
		pod.OwnerReferences, pod.UID, pod.CreationTimestamp = nil, "pod-uid", metav1.NewTime(destroyedAt.Add(-time.Hour))
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = "r2"
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: c.meta(c.names.claim(dataVolume, i))}
		claim.OwnerReferences, claim.UID = nil, "claim-uid"
		o.pods, o.claims = append(o.pods, pod), append(o.claims, claim)
		o.members = append(o.members, guard.Member{
			ID: uint64(0xa0 + i), Name: name, PeerURLs: []string{c.names.peerURL(name)}, Started: true, Healthy: true, Leader: i == 2, //nolint:gosec // 3 at most
		})
	}
	return o
}

func (o *destroyedObjects) all() []client.Object {
	out := []client.Object{o.etcd, o.set}
	for _, p := range o.pods {
		out = append(out, p)
	}
	for _, c := range o.claims {
		out = append(out, c)
	}
	return out
}

// ended gives a member's pod an agent that ended with a reason, and no readiness.
func (o *destroyedObjects) ended(ordinal int, exit int32, reason string) {
	o.pods[ordinal].Status.Conditions = nil
	o.pods[ordinal].Status.InitContainerStatuses = []corev1.ContainerStatus{{
		Name: prepareContainer, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: exit, Message: reason}},
	}}
}

// does notes a step that cannot be undone, which the gate must have let through.
func (d *destroyed) does(format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	if !d.asked || d.why != "" {
		d.t.Errorf("%s: asked in that cycle: %t, answered %q", what, d.asked, d.why)
	}
	d.done = append(d.done, what)
}

func (d *destroyed) Wait(_ context.Context, namespace, cluster string) (string, error) {
	if namespace != "plant" || cluster != "" {
		d.t.Errorf("the gate is asked for %s/%s", namespace, cluster)
	}
	d.asked = true
	return d.why, d.gateErr
}

// client is the API server as the reconciler reaches it.
func (d *destroyed) client() client.Client {
	return interceptor.NewClient(d.api, interceptor.Funcs{
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, _ ...client.DeleteOption) error {
			d.does("delete %T %s", o, o.GetName())
			return c.Delete(ctx, o)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if len(o.GetFinalizers()) == 0 {
				d.does("let %s go", o.GetName())
			}
			return c.Patch(ctx, o, p, opts...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, a runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
			return d.apply(ctx, c, a)
		},
	})
}

// apply makes an object as it is wanted, and answers with its version.
func (d *destroyed) apply(ctx context.Context, c client.Client, a runtime.ApplyConfiguration) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(a)
	if err != nil {
		return err
	}
	wanted := &unstructured.Unstructured{Object: content}
	have := wanted.DeepCopy()
	switch err := c.Get(ctx, client.ObjectKeyFromObject(wanted), have); {
	case apierrors.IsNotFound(err):
		have = wanted.DeepCopy()
		err = c.Create(ctx, have)
		if err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		d.lowers(have, wanted)
		for _, part := range []string{"spec", "data"} {
			if value, ok := content[part]; ok {
				have.Object[part] = value
			}
		}
		if err := c.Update(ctx, have); err != nil {
			return err
		}
	}
	a.(interface{ SetResourceVersion(string) }).SetResourceVersion(have.GetResourceVersion())
	return nil
}

func (d *destroyed) lowers(have, wanted *unstructured.Unstructured) {
	before, _, _ := unstructured.NestedInt64(have.Object, "spec", "replicas") // 0 where there is none
	after, _, _ := unstructured.NestedInt64(wanted.Object, "spec", "replicas")
	if after < before {
		d.does("lower %s from %d to %d", have.GetName(), before, after)
	}
}

// destroyedEtcd is its etcd.
type destroyedEtcd struct{ d *destroyed }

func (e destroyedEtcd) View(context.Context) (*etcdclient.View, error) {
	if len(e.d.members) == 0 {
		return nil, errors.New("nobody answers")
	}
	v := &etcdclient.View{ClusterID: 0xc1, Members: slices.Clone(e.d.members), ClientURLs: map[uint64][]string{}}
	for _, m := range e.d.members {
		v.ClientURLs[m.ID] = []string{"http://" + m.Name}
	}
	return v, nil
}

func (e destroyedEtcd) Remove(_ context.Context, id uint64) error {
	e.d.does("remove member %x", id)
	e.d.members = slices.DeleteFunc(e.d.members, func(m guard.Member) bool { return m.ID == id })
	return nil
}

func (e destroyedEtcd) MoveLeader(_ context.Context, to uint64) error {
	e.d.does("move leadership to %x", to)
	for i := range e.d.members {
		e.d.members[i].Leader = e.d.members[i].ID == to
	}
	return nil
}

func (destroyedEtcd) Lock(context.Context) (func() error, error) {
	return func() error { return nil }, nil
}

func (destroyedEtcd) Close() error { return nil }

// cycle is one reconcile.
func (d *destroyed) cycle() error {
	d.asked = false
	_, err := d.r.Reconcile(d.t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "plant", Name: "main"}})
	return err
}

func (d *destroyed) cycles(n int) {
	d.t.Helper()
	for range n {
		if err := d.cycle(); err != nil {
			d.t.Fatal(err)
		}
	}
}

func (d *destroyed) etcd() *v1alpha1.Etcd {
	d.t.Helper()
	e := &v1alpha1.Etcd{}
	if err := client.IgnoreNotFound(d.api.Get(d.t.Context(), client.ObjectKey{Namespace: "plant", Name: "main"}, e)); err != nil {
		d.t.Fatal(err)
	}
	return e
}
