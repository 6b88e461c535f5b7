package parity

import (
	"reflect"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/cel"
)

// sample is how many pairs the tests of the generator look at.
const sample = 4_000

func TestPairIsAFunctionOfSeedAndNumber(t *testing.T) {
	g, again := productGenerator(t), productGenerator(t)
	other := *g
	other.seed++
	differs := false
	for n := range uint64(50) {
		if !reflect.DeepEqual(g.Pair(n), again.Pair(n)) {
			t.Fatalf("pair %d differs between two generators of one seed", n)
		}
		differs = differs || !reflect.DeepEqual(g.Pair(n), other.Pair(n))
	}
	if !differs {
		t.Error("another seed gives the same pairs")
	}
}

func TestPairsKeepsAndCounts(t *testing.T) {
	g := productGenerator(t)
	var numbers []uint64
	for p := range g.Pairs(5, func(p Pair) bool { return p.Request.Operation == cel.Create }) {
		numbers = append(numbers, p.Number)
		if p.Request.Operation != cel.Create {
			t.Errorf("pair %d is not kept, and given", p.Number)
		}
	}
	if len(numbers) != 5 || !slices.IsSorted(numbers) {
		t.Errorf("got pairs %v", numbers)
	}
}

// schemaValidators are the API server's own, by resource.
func schemaValidators(t testing.TB) map[string]validation.SchemaValidator {
	t.Helper()
	_, crds := product(t)
	out := map[string]validation.SchemaValidator{}
	for _, crd := range crds {
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, internal, nil); err != nil {
			t.Fatal(err)
		}
		validator, _, err := validation.NewSchemaValidator(internal)
		if err != nil {
			t.Fatal(err)
		}
		out[crd.Spec.Names.Plural] = validator
	}
	return out
}

// TestObjectsAreAsTheAPIServerHasThem: valid, pruned and defaulted, so that every
// pair could reach the rules of a real server.
func TestObjectsAreAsTheAPIServerHasThem(t *testing.T) {
	validators := schemaValidators(t)
	g := productGenerator(t)
	for p := range g.Pairs(sample, nil) {
		k := g.kinds[slices.IndexFunc(g.kinds, func(k *kind) bool { return k.resource == p.Request.Resource })]
		for which, object := range map[string]map[string]any{"new": p.Request.Object, "old": p.Request.OldObject} {
			if object == nil {
				continue
			}
			errs := validation.ValidateCustomResource(nil, object, validators[k.resource])
			errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.schema, object)...)
			if len(errs) > 0 {
				t.Fatalf("pair %d, %s %s: %v", p.Number, which, k.name, errs.ToAggregate())
			}
			if !reflect.DeepEqual(k.decoded(object), object) {
				t.Fatalf("pair %d, %s %s would be pruned or defaulted: %v", p.Number, which, k.name, object)
			}
		}
	}
}

// TestUpdatesChangeWhatTheirSubresourceMay is about what the API server stores.
func TestUpdatesChangeWhatTheirSubresourceMay(t *testing.T) {
	seen := map[string]int{}
	for p := range productGenerator(t).Pairs(sample, nil) {
		r := p.Request
		seen[string(r.Operation)+" "+r.Subresource]++
		if r.Operation == cel.Create && (r.OldObject != nil || r.Object["status"] != nil) || r.Operation == cel.Delete && r.Object != nil {
			t.Fatalf("pair %d: %s of %v from %v", p.Number, r.Operation, r.Object, r.OldObject)
		}
		if r.Operation != cel.Update || p.AsSent {
			continue
		}
		fixed := map[string][]string{cel.Main: {"status"}, cel.Status: {"spec", "metadata"}, cel.Scale: {"status", "metadata"}}[r.Subresource]
		for _, name := range fixed {
			if !reflect.DeepEqual(r.Object[name], r.OldObject[name]) {
				t.Fatalf("pair %d: an update of subresource %q changed %s", p.Number, r.Subresource, name)
			}
		}
		if r.Subresource == cel.Scale {
			spec := withPart(r.Object["spec"].(map[string]any), r.OldObject["spec"].(map[string]any), "replicas")
			if !reflect.DeepEqual(spec, r.OldObject["spec"]) {
				t.Fatalf("pair %d: a scale request changed more than replicas", p.Number)
			}
		}
	}
	for _, kind := range []string{"CREATE ", "UPDATE ", "UPDATE status", "UPDATE scale", "DELETE "} {
		if seen[kind] == 0 {
			t.Errorf("no request is %s", kind)
		}
	}
}

// TestSamplesBelongToTheAPI: a path that no CRD has any more is a mistake.
func TestSamplesBelongToTheAPI(t *testing.T) {
	known := map[string]bool{}
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		}
		known[n.path] = true
		for _, p := range n.properties {
			visit(p.node)
		}
		visit(n.items)
		visit(n.values)
	}
	for _, k := range productGenerator(t).kinds {
		visit(k.root)
	}
	for path := range hints {
		if !known[path] {
			t.Errorf("hints for %s, which no CRD has", path)
		}
	}
	for path := range presence {
		if !known[path] {
			t.Errorf("presence of %s, which no CRD has", path)
		}
	}
}

func TestCompileRefusesWhatItHasNoValuesFor(t *testing.T) {
	text := func(pattern string) schema.Structural {
		return schema.Structural{Generic: schema.Generic{Type: "string"}, ValueValidation: &schema.ValueValidation{Pattern: pattern}}
	}
	for name, c := range map[string]struct {
		properties map[string]schema.Structural
		want       string
	}{
		"pattern": {map[string]schema.Structural{"odd": text("^[0-9]{40}$")}, "no sample fits the schema of odd"},
		"hint": {map[string]schema.Structural{"spec": {Generic: schema.Generic{Type: "object"},
			Properties: map[string]schema.Structural{"kind": text("^prod$")}}}, "not all hints fit the schema of spec.kind"},
		"item":  {map[string]schema.Structural{"list": {Generic: schema.Generic{Type: "array"}, Items: ptr.To(text("^[0-9]{40}$"))}}, "no sample fits the schema of list[*]"},
		"value": {map[string]schema.Structural{"map": {Generic: schema.Generic{Type: "object"}, AdditionalProperties: &schema.StructuralOrBool{Structural: ptr.To(text("^[0-9]{40}$"))}}}, "no sample fits the schema of map[*]"},
	} {
		_, err := compile(&schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: c.properties}, "")
		if err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	if _, err := NewGenerator(nil, controller, seed); err == nil || err.Error() != "no CRD to make objects of" {
		t.Errorf("without CRDs: %v", err)
	}
}
