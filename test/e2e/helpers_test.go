package e2e

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
	"github.com/quorate/quorate/test/world/script"
)

// as is a client of one of the world's actors.
func as(t *testing.T, actor string) client.Client {
	t.Helper()
	access, err := shared.Access(actor)
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(t, access.Config)
}

func clientOf(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	c, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// namespace makes one that is the test's own. The control plane is thrown away,
// so nothing is cleaned up.
func namespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	if err := as(t, world.Admin).Create(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	return made.Name
}

func etcd(namespace, name string, replicas int32) *v1alpha1.Etcd {
	return &v1alpha1.Etcd{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       v1alpha1.EtcdSpec{Replicas: &replicas},
	}
}

// given creates an Etcd with a status that the controller has recorded.
func given(t *testing.T, e *v1alpha1.Etcd, s script.State) *v1alpha1.Etcd {
	t.Helper()
	must(t, as(t, world.Alice).Create(t.Context(), e))
	e.Status = v1alpha1.EtcdStatus(s)
	must(t, as(t, world.Controller).Status().Update(t.Context(), e))
	return e
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refusedBy wants a refusal by exactly these rules, or none, and that it says
// all of the texts.
func refusedBy(t *testing.T, err error, rules []string, says ...string) {
	t.Helper()
	if len(rules) == 0 {
		must(t, err)
		return
	}
	if err == nil {
		t.Fatalf("it went through, and %v should have refused it", rules)
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) {
		t.Fatalf("it is no refusal: %v", err)
	}
	if got := script.RulesIn(err.Error()); !slices.Equal(got, slices.Sorted(slices.Values(rules))) {
		t.Errorf("refused by %v, not by %v: %v", got, rules, err)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the refusal does not say %q: %v", text, err)
		}
	}
}

// eventuallyRefusedBy is refusedBy of a creation as a dry run, which the API
// server may judge by rights that it does not know of yet.
func eventuallyRefusedBy(t *testing.T, actor string, object client.Object, rules []string) {
	t.Helper()
	var last error
	_ = cluster.Until(t.Context(), "the verdict", func(ctx context.Context) error {
		last = as(t, actor).Create(ctx, object.DeepCopyObject().(client.Object), client.DryRunAll)
		if (last == nil) != (len(rules) == 0) {
			return errOtherwise
		}
		return nil
	})
	refusedBy(t, last, rules)
}

var errOtherwise = errors.New("the verdict is the other one")

// kubectl runs it as an actor in the namespace, and wants it to succeed.
func kubectl(t *testing.T, actor, namespace, stdin string, args ...string) string {
	t.Helper()
	result := tryKubectl(t, actor, namespace, stdin, args...)
	if result.Code != 0 {
		t.Fatalf("kubectl %s: %s", strings.Join(args, " "), result.Stderr)
	}
	return result.Stdout
}

func tryKubectl(t *testing.T, actor, namespace, stdin string, args ...string) cluster.Result {
	t.Helper()
	result, err := shared.Kubectl(t.Context(), actor, stdin, append([]string{"--namespace=" + namespace}, args...)...)
	must(t, err)
	return result
}

func key(e client.Object) client.ObjectKey { return client.ObjectKeyFromObject(e) }

// until waits for the check to pass.
func until(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	must(t, cluster.Until(t.Context(), what, check))
}
