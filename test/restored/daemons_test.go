package restored

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/cluster"
)

// daemons play the DaemonSet kube-proxy: its controller, which makes a pod on each worker,
// and what begins with a pod.
type daemons struct {
	t   *testing.T
	set *appsv1.DaemonSet
	// replaces is told of a machine before a kube-proxy begins there in the place of another.
	replaces func(machine string)
	made     map[string]bool
}

var proxyLabels = map[string]string{"k8s-app": "kube-proxy"}

// newDaemons makes the DaemonSet, and plays it until the test ends.
func newDaemons(t *testing.T, replaces func(machine string)) *daemons {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-proxy"}
	d := &daemons{t: t, replaces: replaces, made: map[string]bool{}, set: &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{
		Selector: &metav1.LabelSelector{MatchLabels: proxyLabels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: proxyLabels}, Spec: proxySpec()},
	}}}
	account := &corev1.ServiceAccount{ObjectMeta: meta}
	must(t, shared.Client.Create(within(t), account))
	must(t, shared.Client.Create(within(t), d.set))
	ctx, cancel := context.WithCancel(t.Context())
	var loop sync.WaitGroup
	loop.Go(func() { d.play(ctx) })
	t.Cleanup(func() {
		cancel()
		loop.Wait()
		d.remove(account)
	})
	for _, worker := range []string{"worker-1", stale} {
		must(t, cluster.Until(within(t), "kube-proxy on "+worker, func(ctx context.Context) error { return d.ready(ctx, worker) }))
	}
	return d
}

func (d *daemons) play(ctx context.Context) {
	ticker := time.NewTicker(keepEvery)
	defer ticker.Stop()
	for {
		_ = d.keep(ctx) // the API servers may be away
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// remove takes all away again.
func (d *daemons) remove(account *corev1.ServiceAccount) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, o := range []client.Object{d.set, account} {
		must(d.t, client.IgnoreNotFound(shared.Client.Delete(ctx, o)))
	}
	must(d.t, shared.Client.DeleteAllOf(ctx, &corev1.Pod{}, client.InNamespace(d.set.Namespace), client.MatchingLabels(proxyLabels), client.GracePeriodSeconds(0)))
}

func proxySpec() corev1.PodSpec {
	no := false
	return corev1.PodSpec{
		ServiceAccountName: "kube-proxy", AutomountServiceAccountToken: &no,
		Containers: []corev1.Container{{Name: "kube-proxy", Image: "kube-proxy", Command: []string{"/bin/sh", "-c", "exec /bin/sleep 1000000"}}},
	}
}

// keep makes a pod on each worker that has none.
func (d *daemons) keep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pods, err := d.pods(ctx)
	if err != nil {
		return err
	}
	for _, n := range shared.Talos.Nodes() {
		if !n.Worker() || pods[n.NodeName()] != nil {
			continue
		}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace: d.set.Namespace, GenerateName: "kube-proxy-", Labels: proxyLabels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(d.set, appsv1.SchemeGroupVersion.WithKind("DaemonSet"))},
		}, Spec: proxySpec()}
		p.Spec.NodeName = n.NodeName()
		if err := shared.Client.Create(ctx, p); err != nil {
			return err
		}
		if d.made[n.Name] {
			d.begins(n.Name)
		}
		d.made[n.Name] = true
	}
	return nil
}

// begins is a kube-proxy that reads anew.
func (d *daemons) begins(machine string) {
	d.replaces(machine)
	// One that has listed nothing yet cannot be restarted.
	err := cluster.Until(d.t.Context(), "kube-proxy on "+machine, func(context.Context) error { return shared.Talos.Node(machine).RestartProxy() })
	if err != nil {
		d.t.Errorf("begin a kube-proxy: %v", err)
	}
}

// pods are those by their node.
func (d *daemons) pods(ctx context.Context) (map[string]*corev1.Pod, error) {
	var list corev1.PodList
	if err := shared.Client.List(ctx, &list, client.InNamespace(d.set.Namespace), client.MatchingLabels(proxyLabels)); err != nil {
		return nil, err
	}
	out := map[string]*corev1.Pod{}
	for i := range list.Items {
		out[list.Items[i].Spec.NodeName] = &list.Items[i]
	}
	return out, nil
}

func (d *daemons) pod(t *testing.T, machine string) *corev1.Pod {
	t.Helper()
	pods, err := d.pods(within(t))
	must(t, err)
	if pods[machine] == nil {
		t.Fatalf("there is no kube-proxy on %s", machine)
	}
	return pods[machine]
}

func (d *daemons) ready(ctx context.Context, machine string) error {
	pods, err := d.pods(ctx)
	if err != nil {
		return err
	}
	if p := pods[machine]; p == nil || p.Status.Phase != corev1.PodRunning {
		return fmt.Errorf("%w: %+v", errNotYet, p)
	}
	return nil
}
