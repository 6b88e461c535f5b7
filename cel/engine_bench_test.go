package cel

import (
	"context"
	"testing"

	"github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
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

func BenchmarkPolicy(b *testing.B) {
	all, _ := realRules(b)
	_, _, r := benchSetup(b)
	c := &Catalogue{Group: all.Group}
	for _, id := range benchRules {
		rule, _ := all.Rule(id)
		c.Rules = append(c.Rules, rule)
	}
	policies, _, err := Policies(c, "controller")
	if err != nil {
		b.Fatal(err)
	}
	if len(policies) != 1 {
		b.Fatalf("%d policies", len(policies))
	}
	compiler, err := admissioncel.NewCompositedCompiler(baseEnvSet())
	if err != nil {
		b.Fatal(err)
	}
	x := expressionsOf(policies[0])
	if err := x.check(compiler, environment.StoredExpressions); err != nil {
		b.Fatal(err)
	}
	condition := compiler.CompileCondition(x.validations, withAuthorizer, environment.StoredExpressions)
	layer := &vapLayer{group: c.Group}
	attributes, err := layer.attributes(r)
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 1<<40)
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		request := admissioncel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(attributes.GetResource()), metav1.GroupVersionKind(attributes.VersionedKind))
		results, _, err := condition.ForInput(ctx, attributes, request, admissioncel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
		if err != nil {
			b.Fatal(err)
		}
		for _, result := range results {
			if result.EvalResult != types.True {
				b.Fatal(result.Error)
			}
		}
	}
}
