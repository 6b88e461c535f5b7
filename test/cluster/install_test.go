package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// lamp is a small definition of a group that belongs to the calling test.
func lamp(group string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "lamps." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lamps", Kind: "Lamp"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type:       "object",
					Properties: map[string]apiextensionsv1.JSONSchemaProps{"watts": {Type: "integer"}},
				}},
			}},
		},
	}
}

func TestInstalledCRDsAreServedAtOnce(t *testing.T) {
	crd := lamp("served.example.com")
	if err := shared.InstallCRDs(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	err := shared.Apply(t.Context(), "apiVersion: served.example.com/v1\nkind: Lamp\nmetadata: {name: a, namespace: default}\nwatts: 40\n")
	if err != nil {
		t.Error(err)
	}
	if crd.Kind != "" || crd.APIVersion != "" {
		t.Error("the caller's definition was changed")
	}
	crd.Spec.Names.ShortNames = []string{"lp"}
	if err := shared.InstallCRDs(t.Context(), crd); err != nil {
		t.Errorf("install again: %v", err)
	}
	if got := kubectl(t, shared.Admin(), "get", "crd", crd.Name, "-o", "jsonpath={.spec.names.shortNames}").Stdout; got != `["lp"]` {
		t.Errorf("the second installation left shortNames %s", got)
	}
}

func TestACRDThatIsRefused(t *testing.T) {
	crd := lamp("refused.example.com")
	crd.Name = "other.refused.example.com"
	err := shared.InstallCRDs(t.Context(), crd)
	if err == nil || !strings.HasPrefix(err.Error(), "install CRD other.refused.example.com: ") || !strings.Contains(err.Error(), `metadata.name: Invalid value: "other.refused.example.com"`) {
		t.Errorf("error is %v", err)
	}
}

func TestACRDThatIsNeverServed(t *testing.T) {
	crd := lamp("conflict.example.com")
	if err := shared.InstallCRDs(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	second := lamp("conflict.example.com")
	second.Name, second.Spec.Names.Plural = "lights.conflict.example.com", "lights"
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err := shared.InstallCRDs(ctx, second)
	want := `wait for CRD lights.conflict.example.com: context deadline exceeded: still missing: condition NamesAccepted is False: `
	if err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v, want %q", err, want)
	}
}

func TestApplyKustomize(t *testing.T) {
	dir, namespace := t.TempDir(), makeNamespace(t)
	files := map[string]string{
		"kustomization.yaml": "namespace: " + namespace + "\nresources: [map.yaml]\n",
		"map.yaml":           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\n",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // again: nothing to do is no error
		if err := shared.ApplyKustomize(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := kubectl(t, shared.Admin(), "get", "configmap", "made", "-n", namespace, "-o", "name").Stdout; got != "configmap/made\n" {
		t.Errorf("got %q", got)
	}
}

func TestARefusedManifest(t *testing.T) {
	err := shared.Apply(t.Context(), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: nowhere}\n")
	want := `kubectl apply --server-side --force-conflicts -f -: refused: Error from server (NotFound): namespaces "nowhere" not found`
	if !errors.Is(err, ErrRefused) || strings.TrimSpace(err.Error()) != want {
		t.Errorf("error is %v, want %q", err, want)
	}
}
