package restored

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/product"
)

// install puts everything in as it is shipped, but for the Deployment and for where the
// API servers find the webhook.
func (w *World) install(ctx context.Context) error {
	root, err := product.Root(ctx)
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context, string) error{w.namespaces, w.definitions, w.access, w.gate} {
		if err := step(ctx, filepath.Join(root, "manifests")); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) namespaces(ctx context.Context, from string) error {
	if err := w.apply(ctx, filepath.Join(from, "manager", "namespace.yaml")); err != nil {
		return err
	}
	for _, name := range []string{Namespace, Users} {
		if err := w.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("make namespace %s: %w", name, err)
		}
	}
	return nil
}

func (w *World) definitions(ctx context.Context, _ string) error {
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return err
	}
	for _, crd := range crds {
		if err := w.Client.Create(ctx, crd); err != nil {
			return fmt.Errorf("install CRD %s: %w", crd.Name, err)
		}
	}
	for _, crd := range crds {
		err := cluster.Until(ctx, "CRD "+crd.Name, func(ctx context.Context) error { return w.established(ctx, crd.Name) })
		if err != nil {
			return err
		}
	}
	return nil
}

// errNotYet says that something will be so.
var errNotYet = errors.New("not yet")

func (w *World) established(ctx context.Context, name string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := w.Client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
		return err
	}
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("%w: its conditions are %v", errNotYet, crd.Status.Conditions)
}

// access is who may do what, and the policies.
func (w *World) access(ctx context.Context, from string) error {
	for _, folder := range []string{"rbac", "policy"} {
		files, err := filepath.Glob(filepath.Join(from, folder, "*.yaml"))
		if err != nil {
			return fmt.Errorf("list %s: %w", folder, err)
		}
		for _, file := range files {
			if filepath.Base(file) == "kustomization.yaml" {
				continue
			}
			if err := w.apply(ctx, file); err != nil {
				return err
			}
		}
	}
	return nil
}

// gate is the webhook's configuration. The API servers know no way to Services here, and
// so it names an address, which stays the same wherever the manager runs.
func (w *World) gate(ctx context.Context, from string) error {
	content, err := os.ReadFile(filepath.Join(from, "webhook", "configuration.yaml"))
	if err != nil {
		return fmt.Errorf("read the webhook configuration: %w", err)
	}
	c := &admissionv1.ValidatingWebhookConfiguration{}
	if err := yaml.UnmarshalStrict(content, c); err != nil {
		return fmt.Errorf("read the webhook configuration: %w", err)
	}
	if w.webhook, err = freeAddress(); err != nil {
		return err
	}
	for i := range c.Webhooks {
		at := "https://" + w.webhook + *c.Webhooks[i].ClientConfig.Service.Path
		c.Webhooks[i].ClientConfig = admissionv1.WebhookClientConfig{URL: &at}
	}
	if err := w.Client.Create(ctx, c); err != nil {
		return fmt.Errorf("install the webhook configuration: %w", err)
	}
	return nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return listener.Addr().String(), listener.Close()
}

// apply creates the objects of a file.
func (w *World) apply(ctx context.Context, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read a manifest: %w", err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content)+1)
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read %s: %w", filepath.Base(file), err)
		}
		if len(o.Object) == 0 {
			continue
		}
		if err := w.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("install %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
}
