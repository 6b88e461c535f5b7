package machine

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/manifests"
)

// parityWorlds is how many worlds both are asked about.
const parityWorlds = 8_000

// Admission and the reconciler give the same verdict for the same world: the last
// report of etcd for the one, etcd itself for the other. The rule and package guard
// count a quorum each by itself. Members that were never recorded are left out: of
// these the reconciler alone can know.
//
// covers: B-1
func TestAdmissionAndReconcilerAgree(t *testing.T) {
	engine := newEngine(t)
	random := rand.New(rand.NewPCG(11, 30))
	verdicts := map[string]int{}
	for i := range parityWorlds {
		w := newRandomWorld(random)
		admitted := refusalOf(admission(t, engine, w))
		reconciled, err := w.cycle(engine).refusal(t.Context())
		if err != nil {
			t.Fatalf("world %d: %v\n%s", i, err, w)
		}
		if (admitted == "") != (reconciled == "") || admitted != "" && admitted != reconciled {
			t.Fatalf("world %d:\nadmission:  %q\nreconciler: %q\n%s", i, admitted, reconciled, w)
		}
		verdicts[ruleOf(admitted)]++
	}
	t.Logf("%d worlds: %v", parityWorlds, verdicts)
	for _, rule := range []string{"", "machine-delete-below-count", "machine-delete-keeps-quorum", "machine-delete-last-control-plane", "machine-delete-wants-annotation"} {
		if verdicts[rule] < parityWorlds/100 {
			t.Errorf("%q had the last word in %d worlds only", rule, verdicts[rule])
		}
	}
}

// ruleOf is the ID at the end of a refusal.
func ruleOf(text string) string {
	i := strings.LastIndex(text, "(")
	if i < 0 {
		return text
	}
	return strings.TrimSuffix(text[i+1:], ")")
}

func newEngine(t *testing.T) *cel.Engine {
	t.Helper()
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	catalogue.Group = v1alpha1.Group
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cel.New(catalogue, crds)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

// admission is what the webhook says of the DELETE.
func admission(t *testing.T, engine *cel.Engine, w *randomWorld) cel.Verdict {
	t.Helper()
	request := &cel.Request{
		Operation: cel.Delete, Resource: "talosmachines", Namespace: "default", Name: w.machines[0].Name,
		OldObject: object(t, &w.machines[0], "TalosMachine"), Live: map[string]any{},
	}
	targets, err := engine.LiveReads(request)
	if err != nil {
		t.Fatal(err)
	}
	for name, target := range targets {
		if request.Live[name], err = kube.Read(t.Context(), w, target); err != nil {
			t.Fatal(err)
		}
	}
	return engine.JudgeAs(t.Context(), request, false)
}

func object(t *testing.T, o any, kind string) map[string]any {
	t.Helper()
	m, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		t.Fatal(err)
	}
	m["apiVersion"], m["kind"] = v1alpha1.GroupVersion.String(), kind
	return m
}
