package cel

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
)

// The comparison is over the rules that the seed documents ask for.
var benchRules = []string{"scale-out-blocked", "scale-in-blocked", "bootstrap-removal-blocked"}

const benchEtcd = `
apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: a, namespace: default, generation: 4}
spec:
  replicas: 3
  etcd:
    bootstrapWithExistingCluster:
      clientEndpoints: ["https://src.example.com:2379"]
      members:
      - {name: src-0, peerURLs: ["https://src-0.example.com:2380"]}
      - {name: src-1, peerURLs: ["https://src-1.example.com:2380"]}
status:
  replicas: 3
  conditions:
  - {type: Ready, status: "True", reason: Quorate, message: ok, lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: ScaleOperationInProgress, status: "True", reason: ScalingIn, message: ok, lastTransitionTime: "2026-01-01T00:00:00Z"}
`

func benchSetup(t testing.TB) (*Engine, stock, *Request) {
	t.Helper()
	all, crds := realRules(t)
	c := &Catalogue{Group: all.Group}
	for _, id := range benchRules {
		r, ok := all.Rule(id)
		if !ok {
			t.Fatalf("no rule %s", id)
		}
		c.Rules = append(c.Rules, r)
	}
	crd, ok := findCRD(c.Group, "etcds", crds)
	if !ok {
		t.Fatal("no CRD of etcds")
	}
	injected, err := Inject(c, []*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{Operation: Update, Resource: "etcds", Namespace: "default", Name: "a",
		Object: objectOf(t, benchEtcd), OldObject: objectOf(t, benchEtcd)}
	r.Object["spec"].(map[string]any)["replicas"] = int64(2)
	return newEngine(t, c, injected...), newStock(t, injected[0]), r
}

func BenchmarkEngine(b *testing.B) {
	e, _, r := benchSetup(b)
	ctx, cancel := context.WithTimeout(context.Background(), 1<<40)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		if v := e.Judge(ctx, r); v.Outcome != Allow {
			b.Fatal(v)
		}
	}
}

func BenchmarkStockValidator(b *testing.B) {
	_, s, r := benchSetup(b)
	ctx, cancel := context.WithTimeout(context.Background(), 1<<40)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		correlated := common.NewCorrelatedObject(r.Object, r.OldObject, &model.Structural{Structural: s.schema})
		errs, _ := s.validator.Validate(ctx, nil, s.schema, r.Object, r.OldObject, celconfig.RuntimeCELCostBudget, schemacel.WithRatcheting(correlated))
		if len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
