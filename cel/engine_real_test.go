package cel

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// realRules are the product's own rules and CRDs, the rules injected.
func realRules(t testing.TB) (*Catalogue, []*apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	c, err := Load(os.DirFS("rules"), ".")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../manifests/crd/quorate.dev_*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs: %v", err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, file := range files {
		crds = append(crds, readCRD(t, file))
	}
	crds, err = Inject(c, crds)
	if err != nil {
		t.Fatal(err)
	}
	return c, crds
}

func TestRealRulesCompile(t *testing.T) {
	c, crds := realRules(t)
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if _, err := New(c, crds); err != nil {
		t.Error(err)
	}
}
