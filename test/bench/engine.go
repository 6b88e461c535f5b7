package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/common/types"
	"github.com/open-policy-agent/opa/v1/rego"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/quorate/quorate/cel"
)

// errVerdict: every side must allow what is measured, or it measures a refusal.
var errVerdict = errors.New("the request was not allowed")

func engineRows(ctx context.Context) ([]Row, error) {
	s, err := newSubject()
	if err != nil {
		return nil, err
	}
	engine, err := cel.New(s.catalogue, []*apiextensionsv1.CustomResourceDefinition{s.crd})
	if err != nil {
		return nil, err
	}
	ours := side{"engine", func() error { return allowed(engine.Judge(ctx, s.request)) }}
	var others []side
	for _, make := range []func(context.Context, *subject) (side, error){policySide, stockSide, regoSide} {
		other, err := make(ctx, s)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
	}
	return timed("engine", ours, others, map[string]float64{others[0].name: 1, others[1].name: 0.25})
}

func allowed(v cel.Verdict) error {
	if v.Outcome != cel.Allow {
		return fmt.Errorf("%w: %v", errVerdict, v.Findings)
	}
	return nil
}

// stockSide is the API server's own validator, ratcheting included.
func stockSide(ctx context.Context, s *subject) (side, error) {
	v, sts, err := stockValidator(s.crd)
	if err != nil {
		return side{}, err
	}
	return side{"stock CRD validator", func() error { return stockJudge(ctx, v, sts, s.request.Object, s.request.OldObject) }}, nil
}

func stockValidator(crd *apiextensionsv1.CustomResourceDefinition) (*schemacel.Validator, *structural.Structural, error) {
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, nil, fmt.Errorf("read the schema: %w", err)
	}
	sts, err := structural.NewStructural(&internal)
	if err != nil {
		return nil, nil, fmt.Errorf("read the schema: %w", err)
	}
	return schemacel.NewValidator(sts, true, celconfig.PerCallLimit), sts, nil
}

func stockJudge(ctx context.Context, v *schemacel.Validator, sts *structural.Structural, object, old map[string]any) error {
	correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: sts})
	errs, _ := v.Validate(ctx, nil, sts, object, old, celconfig.RuntimeCELCostBudget, schemacel.WithRatcheting(correlated))
	return errs.ToAggregate()
}

// policySide is the evaluation of a policy's conditions, without matching.
func policySide(ctx context.Context, s *subject) (side, error) {
	policies, _, err := cel.Policies(s.catalogue, "controller")
	if err != nil {
		return side{}, err
	}
	compiler, err := admissioncel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return side{}, fmt.Errorf("make a compiler: %w", err)
	}
	options := admissioncel.OptionalVariableDeclarations{HasAuthorizer: true}
	compiler.CompileAndStoreVariables(variables(policies[0]), options, environment.StoredExpressions)
	condition := compiler.CompileCondition(conditions(policies[0]), options, environment.StoredExpressions)
	kind := schema.GroupVersionKind{Group: s.catalogue.Group, Version: "v1alpha1", Kind: "Etcd"}
	resource := kind.GroupVersion().WithResource("etcds")
	object, old := &unstructured.Unstructured{Object: s.request.Object}, &unstructured.Unstructured{Object: s.request.OldObject}
	attributes := &admission.VersionedAttributes{
		Attributes:    admission.NewAttributesRecord(object, old, kind, "default", "main", resource, "", admission.Update, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: "alice@example.com"}),
		VersionedKind: kind,
	}
	attributes.VersionedObject.Set(object)
	attributes.VersionedOldObject.Set(old)
	request := admissioncel.CreateAdmissionRequest(attributes.Attributes, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(kind))
	return side{"policy condition", func() error {
		results, _, err := condition.ForInput(ctx, attributes, request, admissioncel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
		for _, r := range results {
			if r.Error != nil || r.EvalResult != types.True {
				return errors.Join(errVerdict, r.Error)
			}
		}
		return err
	}}, nil
}

func variables(p *admissionregistrationv1.ValidatingAdmissionPolicy) (out []admissioncel.NamedExpressionAccessor) {
	for _, v := range p.Spec.Variables {
		out = append(out, &validating.Variable{Name: v.Name, Expression: v.Expression})
	}
	return out
}

func conditions(p *admissionregistrationv1.ValidatingAdmissionPolicy) (out []admissioncel.ExpressionAccessor) {
	for _, v := range p.Spec.Validations {
		out = append(out, &validating.ValidationCondition{Expression: v.Expression})
	}
	return out
}

// regoSide is the same three rules for OPA, as a prepared query.
func regoSide(ctx context.Context, s *subject) (side, error) {
	query, err := rego.New(rego.Query("data.gate.deny"), rego.Module("gate.rego", regoModule)).PrepareForEval(ctx)
	if err != nil {
		return side{}, fmt.Errorf("prepare the rego query: %w", err)
	}
	input := map[string]any{"object": s.request.Object, "oldObject": s.request.OldObject}
	return side{"prepared OPA query", func() error {
		results, err := query.Eval(ctx, rego.EvalInput(input))
		if err != nil {
			return err
		}
		if denied, ok := results[0].Expressions[0].Value.([]any); !ok || len(denied) > 0 {
			return fmt.Errorf("%w: %v", errVerdict, results)
		}
		return nil
	}}, nil
}
