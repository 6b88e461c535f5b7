package world

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

func TestStrip(t *testing.T) {
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		before := fieldsOf(t, crd)
		for i := range crd.Spec.Versions {
			strip(crd.Spec.Versions[i].Schema.OpenAPIV3Schema)
		}
		after := fieldsOf(t, crd)
		if before["x-kubernetes-validations"] == 0 || after["x-kubernetes-validations"] > 0 {
			t.Errorf("%s: %d lists of rules before, %d after", crd.Name, before["x-kubernetes-validations"], after["x-kubernetes-validations"])
		}
		for _, kept := range []string{"maxItems", "maxLength", "x-kubernetes-list-type", "description"} {
			if before[kept] != after[kept] {
				t.Errorf("%s: %s stood %d times and stands %d times", crd.Name, kept, before[kept], after[kept])
			}
		}
	}
}

// fieldsOf counts how often some fields stand in a document.
func fieldsOf(t *testing.T, document any) map[string]int {
	t.Helper()
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, name := range []string{"x-kubernetes-validations", "maxItems", "maxLength", "x-kubernetes-list-type", "description"} {
		found[name] = strings.Count(string(text), `"`+name+`":`)
	}
	return found
}

func TestAnswerer(t *testing.T) {
	const message = "A control plane of 2 is refused. Choose 1, 3 or 5. (control-plane-count)"
	kind, resource := schema.GroupKind{Group: "quorate.dev", Kind: "TalosCluster"}, schema.GroupResource{Group: "quorate.dev", Resource: "talosclusters"}
	byWebhook := apierrors.NewInvalid(kind, "a", nil)
	byWebhook.ErrStatus.Message = `admission webhook "gate.quorate.dev" denied the request: ` + message
	byCRD := apierrors.NewInvalid(kind, "a", nil)
	byCRD.ErrStatus.Message = `TalosCluster.quorate.dev "a" is invalid: spec.controlPlane.count: Invalid value: ` + message
	byPolicy := apierrors.NewForbidden(resource, "a", errors.New("ValidatingAdmissionPolicy 'quorate-talosclusters' with binding 'quorate-talosclusters' denied request: "+message))
	for name, c := range map[string]struct {
		err  error
		want cel.Layer
	}{
		"CRD":             {byCRD, cel.LayerCRD},
		"webhook":         {byWebhook, cel.LayerWebhook},
		"policy":          {byPolicy, cel.LayerVAP},
		"RBAC":            {apierrors.NewForbidden(resource, "a", errors.New("no such right")), unknown},
		"a dead webhook":  {apierrors.NewInternalError(errors.New(`failed calling webhook "gate.quorate.dev"`)), unknown},
		"another rule":    {fmt.Errorf(`admission webhook "gate.quorate.dev" denied the request: no (other-rule)`), unknown},
		"an absent rule":  {errors.New("the server could not find the requested resource"), unknown},
		"quoted by error": {errors.New(message), unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if got := answerer(c.err, "control-plane-count"); got != c.want {
				t.Errorf("answered by %s, want %s: %v", got, c.want, c.err)
			}
		})
	}
}

// TestProbesSeeEachLayer: whichever layers are on, each of them answers at least
// one probe, so that none is waited for in vain and none is taken for granted.
func TestProbesSeeEachLayer(t *testing.T) {
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	w := &World{catalogue: catalogue}
	for on := range 1 << len(AllLayers) {
		var layers, seen []cel.Layer
		for i, layer := range AllLayers {
			if on&(1<<i) != 0 {
				layers = append(layers, layer)
			}
		}
		for _, p := range probes {
			first, err := w.first(p.rule, layers)
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, first)
		}
		for _, layer := range layers {
			if !slices.Contains(seen, layer) {
				t.Errorf("with %v on, no probe is answered by %s", layers, layer)
			}
		}
	}
	if _, err := w.first("no-such-rule", AllLayers); !errors.Is(err, errNoRule) {
		t.Errorf("a rule that is not there: %v", err)
	}
}
