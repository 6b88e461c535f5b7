package manifests

import (
	"context"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// apiServer takes an object in as the API server does on CREATE: unknown fields,
// defaults, schema, list types, the CRD's rules.
type apiServer struct {
	schema    *structuralschema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

func serve(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiServer {
	t.Helper()
	in := toInternal(t, crd).Spec.Validation
	structural, err := structuralschema.NewStructural(in.OpenAPIV3Schema)
	if err != nil {
		t.Fatalf("structural schema of %s: %v", crd.Name, err)
	}
	validator, _, err := validation.NewSchemaValidator(in.OpenAPIV3Schema)
	if err != nil {
		t.Fatalf("schema validator of %s: %v", crd.Name, err)
	}
	return &apiServer{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
}

// create changes the object as the API server would, and says what it objects to.
func (s *apiServer) create(obj map[string]any) []string {
	var found []string
	opts := structuralschema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	for _, path := range pruning.PruneWithOptions(obj, s.schema, true, opts) {
		found = append(found, "unknown field "+path)
	}
	defaulting.Default(obj, s.schema)
	errs := validation.ValidateCustomResource(nil, obj, s.validator)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.schema, obj)...)
	if s.rules != nil && len(errs) == 0 {
		byRule, _ := s.rules.Validate(context.Background(), field.NewPath(""), s.schema, obj, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, byRule...)
	}
	for _, err := range errs {
		found = append(found, err.Error())
	}
	return found
}

func toInternal(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) *apiextensions.CustomResourceDefinition {
	t.Helper()
	scheme := runtime.NewScheme()
	install.Install(scheme)
	crd = crd.DeepCopy()
	scheme.Default(crd)
	out := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(crd, out, nil); err != nil {
		t.Fatalf("convert %s: %v", crd.Name, err)
	}
	return out
}

func mustLoad(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	return crds
}

func byKind(t *testing.T, kind string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	for _, crd := range mustLoad(t) {
		if crd.Spec.Names.Kind == kind {
			return crd
		}
	}
	t.Fatalf("no CRD of kind %s", kind)
	return nil
}
