package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/node/wrap"
)

// limit bounds each wait: a few seconds are usual.
const limit = 30 * time.Second

func bounded(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// namespace makes one for the test.
func namespace(t *testing.T, name string) string {
	t.Helper()
	_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
	must(t, cluster.Until(bounded(t), "the default ServiceAccount", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		return err
	}))
	return name
}

// install makes the objects of testdata/etcd.yaml.
func install(t *testing.T, ns string) {
	t.Helper()
	content, err := os.ReadFile("testdata/etcd.yaml")
	must(t, err)
	content = bytes.ReplaceAll(content, []byte("NAMESPACE"), []byte(ns))
	for _, document := range bytes.Split(content, []byte("\n---\n")) {
		must(t, create(t.Context(), ns, document))
	}
}

var errKind = errors.New("a kind that the test does not know")

func create(ctx context.Context, ns string, document []byte) error {
	var meta metav1.TypeMeta
	if err := yaml.Unmarshal(document, &meta); err != nil {
		return err
	}
	switch meta.Kind {
	case "Service":
		return created(document, func(o *corev1.Service) error {
			_, err := client.CoreV1().Services(ns).Create(ctx, o, metav1.CreateOptions{})
			return err
		})
	case "ConfigMap":
		return created(document, func(o *corev1.ConfigMap) error {
			_, err := client.CoreV1().ConfigMaps(ns).Create(ctx, o, metav1.CreateOptions{})
			return err
		})
	case "StatefulSet":
		return created(document, func(o *appsv1.StatefulSet) error {
			_, err := client.AppsV1().StatefulSets(ns).Create(ctx, o, metav1.CreateOptions{})
			return err
		})
	}
	return fmt.Errorf("%w: %s", errKind, meta.Kind)
}

func created[T any](document []byte, do func(*T) error) error {
	o := new(T)
	if err := yaml.UnmarshalStrict(document, o); err != nil {
		return err
	}
	return do(o)
}

func pod(ctx context.Context, ns, name string) (*corev1.Pod, error) {
	return client.CoreV1().Pods(ns).Get(ctx, name, metav1.GetOptions{})
}

var errNotYet = errors.New("not yet")

// eventually waits until check is content with the pod.
func eventually(t *testing.T, ns, name, what string, check func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var found *corev1.Pod
	err := cluster.Until(bounded(t), name+" "+what, func(ctx context.Context) (err error) {
		if found, err = pod(ctx, ns, name); err == nil && !check(found) {
			err = fmt.Errorf("%w: %s", errNotYet, tell(found))
		}
		return err
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, logs(ns, name))
	}
	return found
}

// tell is what a person would look at first.
func tell(p *corev1.Pod) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s on %q", p.Status.Phase, p.Spec.NodeName)
	for _, c := range p.Status.Conditions {
		fmt.Fprintf(&out, "; %s=%s %s", c.Type, c.Status, c.Message)
	}
	for _, c := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		fmt.Fprintf(&out, "; %s: ready %t, %s", c.Name, c.Ready, c.State.String())
	}
	return out.String()
}

func logs(ns, name string) string {
	var out strings.Builder
	for _, c := range []string{"prepare", "guard", "etcd", "main"} {
		text := nodes.Logs(ns, name, c)
		fmt.Fprintf(&out, "--- %s\n%s\n", c, text[max(0, len(text)-1500):])
	}
	return out.String()
}

func isPodReady(p *corev1.Pod) bool {
	c := find(p.Status.Conditions, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// resolver asks the nodes' DNS, as wrapped programs do.
func resolver() *net.Resolver { return wrap.Resolver(nodes.DNS()) }
