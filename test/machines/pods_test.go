package machines

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// forever ends when it is asked to.
const forever = `trap 'exit 0' TERM; while :; do sleep 0.1; done`

// podSpec is one script on one node of the fleet.
func (f *fleet) podSpec(nodeName string) corev1.PodSpec {
	return corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/shell:v1.0.0", Command: []string{"/bin/sh", "-c"}, Args: []string{forever},
		}},
		NodeSelector: map[string]string{corev1.LabelHostname: nodeName}, TerminationGracePeriodSeconds: ptr.To[int64](5),
	}
}

// deploy runs one pod of a Deployment on a node.
func (f *fleet) deploy(name, nodeName string) {
	f.t.Helper()
	labels := map[string]string{"app": name}
	must(f.t, admin.Create(f.t.Context(), &appsv1.Deployment{
		ObjectMeta: f.meta(name),
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: f.podSpec(nodeName)},
		},
	}))
	f.runs(name, nodeName)
}

// everywhere runs a pod of a DaemonSet on the fleet's nodes.
func (f *fleet) everywhere(name string) {
	f.t.Helper()
	labels := map[string]string{"app": name}
	spec := f.podSpec("")
	spec.NodeSelector = map[string]string{"fleet": f.ns}
	must(f.t, admin.Create(f.t.Context(), &appsv1.DaemonSet{
		ObjectMeta: f.meta(name),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: spec},
		},
	}))
	for _, n := range f.talos.Nodes() {
		f.runs(name, n.NodeName())
	}
}

// mirror shows a static pod of a node, as its kubelet does.
func (f *fleet) mirror(name, nodeName string) {
	f.t.Helper()
	f.bare(name, nodeName, func(p *corev1.Pod) {
		p.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "0123456789abcdef"}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: nodeName, UID: f.node(nodeName).UID, Controller: ptr.To(true)}}
	})
}

// bare runs a pod that nobody looks after.
func (f *fleet) bare(name, nodeName string, change ...func(*corev1.Pod)) {
	f.t.Helper()
	p := &corev1.Pod{ObjectMeta: f.meta(name), Spec: f.podSpec(nodeName)}
	p.Labels = map[string]string{"app": name}
	p.Spec.NodeName = nodeName
	for _, c := range change {
		c(p)
	}
	must(f.t, admin.Create(f.t.Context(), p))
	f.runs(name, nodeName)
}

// on are the pods of an app on a node that have not been asked to end.
func (f *fleet) on(ctx context.Context, name, nodeName string) (out []corev1.Pod, err error) {
	var pods corev1.PodList
	if err := admin.List(ctx, &pods, client.InNamespace(f.ns), client.MatchingLabels{"app": name}); err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName == nodeName && p.DeletionTimestamp == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

// runs waits until a pod of the app is ready on the node.
func (f *fleet) runs(name, nodeName string) {
	f.t.Helper()
	f.until(name+" to run on "+nodeName, func(ctx context.Context) error {
		pods, err := f.on(ctx, name, nodeName)
		if err != nil {
			return err
		}
		for _, p := range pods {
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue {
					return nil
				}
			}
			err = fmt.Errorf("%w: %s is %s", errNotYet, p.Name, p.Status.Phase)
		}
		if err == nil {
			err = fmt.Errorf("%w: there is none", errNotYet)
		}
		return err
	})
}

// off wants no pod of the app on the node.
func (f *fleet) off(name, nodeName string) {
	f.t.Helper()
	pods, err := f.on(f.t.Context(), name, nodeName)
	must(f.t, err)
	if len(pods) > 0 {
		f.t.Errorf("%s still runs on %s", pods[0].Name, nodeName)
	}
}

// budget keeps one pod of the app, and waits until its status says that none may go.
func (f *fleet) budget(app string) {
	f.t.Helper()
	b := &policyv1.PodDisruptionBudget{
		ObjectMeta: f.meta(app),
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: ptr.To(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}},
		},
	}
	must(f.t, admin.Create(f.t.Context(), b))
	f.until("the budget's status", func(ctx context.Context) error {
		if err := admin.Get(ctx, f.key(app), b); err != nil {
			return err
		}
		if b.Status.ObservedGeneration != b.Generation || b.Status.CurrentHealthy != 1 || b.Status.DisruptionsAllowed != 0 {
			return fmt.Errorf("%w: %+v", errNotYet, b.Status)
		}
		return nil
	})
}

func (f *fleet) unbudget(app string) {
	f.t.Helper()
	must(f.t, admin.Delete(f.t.Context(), &policyv1.PodDisruptionBudget{ObjectMeta: f.meta(app)}))
}

func (f *fleet) node(name string) *corev1.Node {
	f.t.Helper()
	n := &corev1.Node{}
	must(f.t, admin.Get(f.t.Context(), client.ObjectKey{Name: name}, n))
	return n
}

// cordoned wants the machine's Node, and no other of the fleet, to take no more pods.
func (f *fleet) cordoned(names ...string) {
	f.t.Helper()
	var got []string
	for _, n := range f.talos.Nodes() {
		o := &corev1.Node{}
		err := admin.Get(f.t.Context(), client.ObjectKey{Name: n.NodeName()}, o)
		if apierrors.IsNotFound(err) {
			continue
		}
		must(f.t, err)
		if o.Spec.Unschedulable {
			got = append(got, n.Name)
		}
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		f.t.Errorf("cordoned are %v, want %v", got, names)
	}
}

// attached is a volume that is attached to the node.
func (f *fleet) attached(nodeName string) {
	f.t.Helper()
	a := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: f.ns},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "driver.example.com", NodeName: nodeName, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: ptr.To("data")},
		},
	}
	must(f.t, admin.Create(f.t.Context(), a))
	f.t.Cleanup(func() { must(f.t, admin.Delete(context.Background(), a)) })
}
