package etcds

import (
	"context"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/test/cluster"
)

const holder = "example.com/hold"

// holdClaim keeps the volume of an ordinal in Terminating until it is freed.
func (p *plant) holdClaim(ordinal int) (free func()) {
	p.t.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.claim(ordinal)}}
	change := func(ctx context.Context, to func([]string) []string) error {
		if err := admin.Get(ctx, client.ObjectKeyFromObject(claim), claim); err != nil {
			return client.IgnoreNotFound(err)
		}
		claim.Finalizers = to(claim.Finalizers)
		return admin.Update(ctx, claim)
	}
	freed := func(ctx context.Context) error {
		return change(ctx, func(f []string) []string {
			return slices.DeleteFunc(f, func(name string) bool { return name == holder })
		})
	}
	must(p.t, change(p.t.Context(), func(f []string) []string { return append(f, holder) }))
	p.t.Cleanup(func() {
		if err := cluster.Until(context.Background(), "the volume to be freed", freed); err != nil {
			p.t.Error(err)
		}
	})
	return func() {
		p.t.Helper()
		must(p.t, cluster.Until(p.t.Context(), "the volume to be freed", freed))
	}
}

// stuck waits until a scale-in to replicas has nothing left but the volumes of some
// ordinals, and has been looked at since.
func (p *plant) stuck(replicas int, claims ...int) {
	p.t.Helper()
	var left []string
	for i := range replicas {
		left = append(left, p.claim(i))
	}
	for _, i := range claims {
		left = append(left, p.claim(i))
	}
	p.until("nothing but a volume to be left", func(e *v1alpha1.Etcd) error {
		got, err := p.claims(p.t.Context())
		if err == nil && (!slices.Equal(got, left) || int(e.Status.Replicas) != replicas || len(e.Status.Members) != replicas) {
			err = fmt.Errorf("%w: volumes %v", errNotYet, got)
		}
		return err
	})
	p.podsAre(replicas)
	seconds := ptr.Deref(p.get().Spec.ProgressDeadlineSeconds, 0) + 1
	patch := fmt.Appendf(nil, `{"spec":{"progressDeadlineSeconds":%d}}`, seconds)
	must(p.t, admin.Patch(p.t.Context(), p.get(), client.RawPatch("application/merge-patch+json", patch)))
	p.until("the controller to have looked again", func(e *v1alpha1.Etcd) error {
		if e.Status.ObservedGeneration != e.Generation {
			return errNotYet
		}
		return nil
	})
	if e := p.get(); e.Status.ScaleOperation == nil || conditionSays(e, v1alpha1.ConditionScaleOperationInProgress) != nil {
		p.t.Errorf("the scale-in has ended with volumes left:\n%s", describe(e))
	}
}

// A volume that does not go keeps the scale-in open, and with it the gate closed; once
// it is gone, the next scale-out starts on a new one.
//
//
func TestVolumeStuckInTerminating(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	disks := p.disks(3)
	free := p.holdClaim(2)
	p.scale(1)
	p.stuck(1, 2)
	p.refused(3, "scale-out-blocked")
	free()
	p.until("the end", func(e *v1alpha1.Etcd) error {
		if e.Status.ScaleOperation != nil {
			return errNotYet
		}
		return nil
	})
	p.want(1)
	p.scale(3) // at once
	p.settled(3)
	p.want(3)
	if now := p.disks(3); now[0] != disks[0] || now[1] == disks[1] || now[2] == disks[2] {
		t.Errorf("disks %v, want the last two of %v to be others", now, disks)
	}
	p.kept()
}

// A surplus pod that comes back after its volume was deleted has a fresh one: both are
// swept before the scale-in ends, and it joins nothing.
//
//
func TestSurplusPodThatComesBackIsSwept(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	free := p.holdClaim(2) // keeps the scale-in open
	p.scale(1)
	p.stuck(1, 2)
	quiet := p.watchList(alone)
	claim, pod := p.comeBack(1)
	must(t, cluster.Until(t.Context(), "pod and volume to be swept", func(ctx context.Context) error {
		for _, o := range []client.Object{claim, pod} {
			if err := admin.Get(ctx, client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil || err == nil {
				return fmt.Errorf("%w: %s is there (%v)", errNotYet, o.GetName(), err)
			}
		}
		return nil
	}))
	free()
	p.settled(1)
	quiet()
	p.want(1)
	p.podsAre(1)
	p.kept()
}

// comeBack makes volume and pod of an ordinal as the StatefulSet controller does, on
// behalf of one that has not heard of the new size.
func (p *plant) comeBack(ordinal int) (*corev1.PersistentVolumeClaim, *corev1.Pod) {
	p.t.Helper()
	set := &appsv1.StatefulSet{}
	must(p.t, admin.Get(p.t.Context(), p.key(), set))
	template := set.Spec.VolumeClaimTemplates[0]
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.ns, Name: p.claim(ordinal), Labels: set.Spec.Selector.MatchLabels},
		Spec:       template.Spec,
	}
	pod := &corev1.Pod{
		ObjectMeta: *set.Spec.Template.ObjectMeta.DeepCopy(),
		Spec:       *set.Spec.Template.Spec.DeepCopy(),
	}
	pod.Namespace, pod.Name = p.ns, p.pod(ordinal)
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))}
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, set.Spec.ServiceName
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim.Name},
	}})
	must(p.t, admin.Create(p.t.Context(), claim))
	must(p.t, admin.Create(p.t.Context(), pod))
	return claim, pod
}

func alone(members []guard.Member) error {
	if len(members) != 1 {
		return fmt.Errorf("%d members", len(members))
	}
	return nil
}
