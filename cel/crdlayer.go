package cel

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// Layered judges a request as one layer of the API server does. It is safe for
// concurrent use.
type Layered interface {
	// Judge gives the layer's verdict. What the layer is not asked about, it
	// allows.
	Judge(ctx context.Context, r *Request) Verdict
}

// crdLayer is the API server's own validator of CRD rules, as it comes.
type crdLayer struct {
	order map[string]int
	// schemas are by resource, then apiVersion.
	schemas map[string]map[string]compiledSchema
}

type compiledSchema struct {
	structural *structuralschema.Structural
	validator  *schemacel.Validator
	names      []ruleName
}

// ruleName is what the validator calls a rule by when it fails: its message, or
// its expression where it has none.
type ruleName struct{ text, id string }

// NewCRDLayer judges by the rules in the (generated) CRDs, with the API server's
// validator and its ratcheting. The catalogue gives the findings their order.
func NewCRDLayer(c *Catalogue, crds []*apiextensionsv1.CustomResourceDefinition) (Layered, error) {
	layer := &crdLayer{order: orderOf(c), schemas: map[string]map[string]compiledSchema{}}
	for _, crd := range crds {
		versions := map[string]compiledSchema{}
		for _, version := range crd.Spec.Versions {
			compiled, err := compileSchema(version)
			if err != nil {
				return nil, fmt.Errorf("compile version %s of CRD %s: %w", version.Name, crd.Name, err)
			}
			versions[crd.Spec.Group+"/"+version.Name] = compiled
		}
		layer.schemas[crd.Spec.Names.Plural] = versions
	}
	return layer, nil
}

func compileSchema(version apiextensionsv1.CustomResourceDefinitionVersion) (compiledSchema, error) {
	structural, err := structuralOf(version)
	if err != nil {
		return compiledSchema{}, err
	}
	compiled := compiledSchema{structural: structural, validator: schemacel.NewValidator(structural, true, celconfig.PerCallLimit)}
	eachNode(version.Schema.OpenAPIV3Schema, "", func(path string, node *apiextensionsv1.JSONSchemaProps) {
		for _, rule := range node.XValidations {
			text := strings.TrimSpace(cmp.Or(rule.Message, rule.Rule))
			compiled.names = append(compiled.names, ruleName{text: text, id: ruleID(rule, path)})
		}
	})
	return compiled, nil
}

func structuralOf(version apiextensionsv1.CustomResourceDefinitionVersion) (*structuralschema.Structural, error) {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return nil, ErrNoSchemaNode
	}
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return nil, fmt.Errorf("convert schema: %w", err)
	}
	return structuralschema.NewStructural(internal)
}

func orderOf(c *Catalogue) map[string]int {
	order := make(map[string]int, len(c.Rules))
	for i, r := range c.Rules {
		order[r.ID] = i
	}
	return order
}

func (l *crdLayer) Judge(ctx context.Context, r *Request) Verdict {
	apiVersion, _ := r.Object["apiVersion"].(string) // a deletion has no object
	schema, ok := l.schemas[r.Resource][apiVersion]
	if !ok || schema.validator == nil {
		return VerdictOf(nil)
	}
	var old any
	var options []schemacel.Option
	if r.Operation == Update {
		old = r.OldObject
		correlated := common.NewCorrelatedObject(r.Object, old, &model.Structural{Structural: schema.structural})
		options = append(options, schemacel.WithRatcheting(correlated))
	}
	errs, _ := schema.validator.Validate(ctx, nil, schema.structural, r.Object, old, celconfig.RuntimeCELCostBudget, options...)
	var findings []Finding
	for _, err := range errs {
		findings = append(findings, schema.finding(err))
	}
	inOrder(l.order, findings)
	return VerdictOf(findings)
}

// inOrder sorts findings by rule, as the validator visits properties in random
// order. Rules that the catalogue does not have come last.
func inOrder(order map[string]int, findings []Finding) {
	place := func(f Finding) int {
		if i, ok := order[f.Rule]; ok {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return place(a) - place(b) })
}

// The validator says in text alone what became of a rule. A failed one has a
// sentence between the error and the rule's own text, one that could not run has
// a text of its own (apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go).
var (
	ruleErrorSentences = []string{
		" evaluating rule: ",
		": call arguments did not match a supported operator, function or macro signature for rule: ",
		": no further validation rules will be run due to call cost exceeds limit for rule: ",
	}
	notRun = regexp.MustCompile(`^(rule compile error|rule compiler initialization error|runtime cost could not be calculated|validation failed due to running out of cost budget|messageExpression evaluation failed due to running out|no further validation rules will be run)`)
)

// CutRuleError splits the text of a CRD rule that could not be evaluated, as the API
// server prints it, into the cause and the rule's own text: its message, or its
// expression where it has none.
func CutRuleError(detail string) (cause, rule string, failed bool) {
	for _, sentence := range ruleErrorSentences {
		if cause, rule, failed = strings.Cut(detail, sentence); failed {
			return cause, rule, true
		}
	}
	return "", "", false
}

func (s compiledSchema) finding(err *field.Error) Finding {
	f := Finding{Outcome: Deny, Message: err.Detail, Field: err.Field, Reason: string(err.Type)}
	if f.Field == "<nil>" {
		f.Field = ""
	}
	for _, name := range s.names {
		for _, sentence := range ruleErrorSentences {
			if cause, ok := strings.CutSuffix(err.Detail, sentence+name.text); ok {
				return Finding{Rule: name.id, Outcome: RuleError, Message: unquote(cause), Field: f.Field}
			}
		}
	}
	if notRun.MatchString(err.Detail) {
		return Finding{Rule: EngineRule, Outcome: RuleError, Message: err.Detail, Field: f.Field}
	}
	f.Rule = s.ruleBehind(err.Detail)
	return f
}

func (s compiledSchema) ruleBehind(message string) string {
	if id := idIn(message); id != "" {
		return id
	}
	for _, name := range s.names {
		if name.text == strings.TrimPrefix(message, "failed rule: ") {
			return name.id
		}
	}
	return foreignID
}

// idIn gives the rule's ID at the end of a message, or nothing for a rule that
// was not injected.
func idIn(message string) string {
	if match := trailingID.FindStringSubmatch(message); match != nil {
		return match[1]
	}
	return ""
}

func unquote(s string) string {
	if len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'' {
		return s[1 : len(s)-1]
	}
	return s
}
