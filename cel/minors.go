package cel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// SupportedMinors are the Kubernetes 1.x releases that rules are checked for.
var SupportedMinors = []int{34, 35, 36, 37}

// compatibilityVersions: a server compiles new expressions for the release
// before its own, so that it can be rolled back, or for its own where that is
// no longer wanted.
func compatibilityVersions() []*version.Version {
	versions := []*version.Version{version.MajorMinor(1, uint(SupportedMinors[0]-1))}
	for _, minor := range SupportedMinors {
		versions = append(versions, version.MajorMinor(1, uint(minor)))
	}
	return versions
}

// CheckMinors compiles every rule as a new expression, as it is when a CRD or a
// policy is created, for each compatibility version of the supported minors:
// in the CRDs with the static cost limits (10M a rule, 100M a CRD), and in the
// policies. The CRDs are also validated whole, as this version's API server does
// it. Errors name rule, layer and version; all are joined.
func CheckMinors(c *Catalogue, crds []*apiextensionsv1.CustomResourceDefinition) error {
	injected, err := Inject(c, crds)
	if err != nil {
		return err
	}
	policies, _, err := Policies(c, "system:serviceaccount:default:controller")
	if err != nil {
		return err
	}
	var problems []error
	for _, v := range compatibilityVersions() {
		env := environment.MustBaseEnvSet(v)
		for _, crd := range injected {
			problems = append(problems, checkCRD(crd, env, v))
		}
		for _, p := range policies {
			_, found := compilePolicy(p, env, environment.NewExpressions)
			problems = append(problems, joined(fmt.Sprintf("layer vap, compatibility version %s", v), found))
		}
	}
	for _, crd := range injected {
		problems = append(problems, validateCRD(crd))
	}
	return errors.Join(problems...)
}

// checkCRD compiles the rules of every schema node for one version.
func checkCRD(crd *apiextensionsv1.CustomResourceDefinition, env *environment.EnvSet, v *version.Version) error {
	var problems []error
	for _, schema := range schemas(crd) {
		internal := &apiextensions.JSONSchemaProps{}
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, internal, nil); err != nil {
			return fmt.Errorf("convert schema of %s: %w", crd.Name, err)
		}
		check := crdCheck{env: env}
		check.node(internal, validation.RootCELContext(internal))
		if check.total > validation.StaticEstimatedCRDCostLimit {
			check.add("all rules of %s: estimated cost %d, at most %d", crd.Name, check.total, validation.StaticEstimatedCRDCostLimit)
		}
		problems = append(problems, joined(fmt.Sprintf("layer crd, compatibility version %s", v), check.problems))
	}
	return errors.Join(problems...)
}

// crdCheck walks a schema as the API server's CRD validation does.
type crdCheck struct {
	env      *environment.EnvSet
	total    uint64
	problems []error
}

func (c *crdCheck) add(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

func (c *crdCheck) node(schema *apiextensions.JSONSchemaProps, at *validation.CELSchemaContext) {
	if len(schema.XValidations) > 0 {
		c.rules(schema, at)
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		c.node(&property, at.ChildPropertyContext(&property, name))
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		c.node(schema.Items.Schema, at.ChildItemsContext(schema.Items.Schema))
	}
	if a := schema.AdditionalProperties; a != nil && a.Schema != nil {
		c.node(a.Schema, at.ChildAdditionalPropertiesContext(a.Schema))
	}
}

func (c *crdCheck) rules(schema *apiextensions.JSONSchemaProps, at *validation.CELSchemaContext) {
	results, err := compileNode(at, c.env)
	if err != nil {
		c.add("%s: %w", named(schema.XValidations[0]), err)
	}
	for i, result := range results {
		c.result(named(schema.XValidations[i]), result, at.MaxCardinality)
	}
}

func compileNode(at *validation.CELSchemaContext, env *environment.EnvSet) ([]schemacel.CompilationResult, error) {
	info, err := at.TypeInfo()
	if err != nil {
		return nil, fmt.Errorf("find the schema node's type: %w", err)
	}
	return schemacel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, env, schemacel.NewExpressionsEnvLoader())
}

// named: a rule that was not injected is known by its text.
func named(rule apiextensions.ValidationRule) string {
	return "rule " + cmp.Or(idIn(rule.Message), fmt.Sprintf("%q", rule.Rule))
}

func (c *crdCheck) result(rule string, result schemacel.CompilationResult, cardinality *uint64) {
	if result.Error != nil {
		c.add("%s: %w", rule, result.Error)
	}
	if result.MessageExpressionError != nil {
		c.add("%s: %w", rule, result.MessageExpressionError)
	}
	times := result.MaxCardinality
	if cardinality != nil {
		times = *cardinality
	}
	c.cost(rule, "expression", product(result.MaxCost, times))
	c.cost(rule, "messageExpression", result.MessageExpressionMaxCost)
}

func (c *crdCheck) cost(rule, what string, cost uint64) {
	c.total += min(cost, math.MaxUint64-c.total)
	if cost > validation.StaticEstimatedCostLimit {
		c.add("%s: estimated cost of its %s is %d, at most %d; shorten it, or lower maxItems and maxLength of what it reads",
			rule, what, cost, validation.StaticEstimatedCostLimit)
	}
}

func product(a, b uint64) uint64 {
	if high, low := bits.Mul64(a, b); high == 0 {
		return low
	}
	return math.MaxUint64
}

// validateCRD is the API server's own check of a CRD that is created.
func validateCRD(crd *apiextensionsv1.CustomResourceDefinition) error {
	created := crd.DeepCopy()
	created.Status = apiextensionsv1.CustomResourceDefinitionStatus{}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(created)
	internal := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(created, internal, nil); err != nil {
		return fmt.Errorf("convert CRD %s: %w", crd.Name, err)
	}
	if errs := validation.ValidateCustomResourceDefinition(context.Background(), internal); len(errs) > 0 {
		return fmt.Errorf("validate CRD %s: %w", crd.Name, errs.ToAggregate())
	}
	return nil
}
