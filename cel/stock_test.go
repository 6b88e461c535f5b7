package cel

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
	"sigs.k8s.io/yaml"
)

func readCRD(t testing.TB, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(data, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

func objectOf(t testing.TB, text string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := DecodeStrict("object", []byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func newEngine(t testing.TB, c *Catalogue, crds ...*apiextensionsv1.CustomResourceDefinition) *Engine {
	t.Helper()
	e, err := New(c, crds)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// tellApart makes findings name each rule by its own key.
func tellApart(e *Engine) *Engine {
	for _, rules := range e.resources {
		for _, tree := range rules.trees {
			for _, node := range tree.rules {
				for i := range node {
					node[i].id = node[i].key
				}
			}
		}
	}
	return e
}

// stock is the API server's own validator, as its registry calls it.
type stock struct {
	schema    *schema.Structural
	validator *schemacel.Validator
}

func newStock(t testing.TB, crd *apiextensionsv1.CustomResourceDefinition) stock {
	t.Helper()
	s, err := structuralOf(crd.Spec.Versions[0])
	if err != nil {
		t.Fatal(err)
	}
	return stock{s, schemacel.NewValidator(s, true, celconfig.PerCallLimit)}
}

type recorder struct{ texts []string }

func (r *recorder) AddWarning(_, text string) { r.texts = append(r.texts, text) }

// said lists what the API server prints, sorted, since its order is random.
func (s stock) said(ctx context.Context, self, old map[string]any) (refusals, warnings []string) {
	warned := &recorder{}
	ctx = warning.WithWarningRecorder(ctx, warned)
	var oldObject any
	var options []schemacel.Option
	if old != nil {
		oldObject = old
		options = append(options, schemacel.WithRatcheting(common.NewCorrelatedObject(self, old, &model.Structural{Structural: s.schema})))
	}
	errs, _ := s.validator.Validate(ctx, nil, s.schema, self, oldObject, celconfig.RuntimeCELCostBudget, options...)
	for _, e := range errs {
		refusals = append(refusals, fmt.Sprintf("%s|%s|%s", string(e.Type), e.Field, e.Detail))
	}
	slices.Sort(refusals)
	slices.Sort(warned.texts)
	return refusals, warned.texts
}

// asAPIServer words findings as the API server does.
func asAPIServer(e *Engine, resource string, v Verdict) (refusals, warnings []string) {
	for _, f := range v.Findings {
		reason, text, at := f.Reason, f.Message, f.Field
		if f.Outcome == RuleError {
			reason, text = "FieldValueInvalid", errorAsAPIServer(e, resource, f)
		}
		if at == "" {
			at = "<nil>"
		}
		refusals = append(refusals, fmt.Sprintf("%s|%s|%s", reason, at, text))
	}
	slices.Sort(refusals)
	warnings = slices.Clone(v.Warnings)
	slices.Sort(warnings)
	return refusals, warnings
}

func errorAsAPIServer(e *Engine, resource string, f Finding) string {
	if f.Rule == EngineRule {
		return f.Message
	}
	for _, tree := range e.resources[resource].trees {
		n, i := tree.find(f.Rule)
		if n == nil {
			continue
		}
		source := tree.rules[n.index][i].source
		said := strings.TrimSpace(source.Message)
		if said == "" {
			said = strings.TrimSpace(source.Rule)
		}
		switch {
		case strings.HasPrefix(f.Message, "no such overload"):
			return "'" + f.Message + "': call arguments did not match a supported operator, function or macro signature for rule: " + said
		case strings.HasPrefix(f.Message, "operation cancelled: actual cost limit exceeded"):
			return "'" + f.Message + "': no further validation rules will be run due to call cost exceeds limit for rule: " + said
		}
		return f.Message + " evaluating rule: " + said
	}
	return "unknown rule " + f.Rule
}
