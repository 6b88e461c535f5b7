package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// kind is what the suite knows of a resource: enough to treat its objects the way
// an API server does before it judges them.
type kind struct {
	apiVersion, name string
	namespaced       bool
	hasStatus        bool
	replicasPath     []string // empty: no scale subresource
	structural       *schema.Structural
	validator        validation.SchemaValidator
}

// ErrNoSchema says that no CRD defines a rule's resource.
var ErrNoSchema = errors.New("no CRD defines the resource")

func kindsOf(group string, crds []*apiextensionsv1.CustomResourceDefinition) (map[string]*kind, error) {
	kinds := map[string]*kind{}
	for _, crd := range crds {
		if crd.Spec.Group != group {
			continue
		}
		k, err := newKind(crd)
		if err != nil {
			return nil, fmt.Errorf("read CRD %s: %w", crd.Name, err)
		}
		kinds[crd.Spec.Names.Plural] = k
	}
	return kinds, nil
}

func newKind(crd *apiextensionsv1.CustomResourceDefinition) (*kind, error) {
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if at < 0 || crd.Spec.Versions[at].Schema == nil {
		return nil, ErrNoSchema
	}
	v := crd.Spec.Versions[at]
	k := &kind{
		apiVersion: crd.Spec.Group + "/" + v.Name, name: crd.Spec.Names.Kind,
		namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
	}
	if sub := v.Subresources; sub != nil {
		k.hasStatus = sub.Status != nil
		if sub.Scale != nil {
			k.replicasPath = splitPath(strings.TrimPrefix(sub.Scale.SpecReplicasPath, "."))
		}
	}
	internal := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v.Schema.OpenAPIV3Schema, internal, nil)
	if err != nil {
		return nil, fmt.Errorf("convert the schema: %w", err)
	}
	if k.structural, err = schema.NewStructural(internal); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	k.validator, _, err = validation.NewSchemaValidator(internal)
	return k, err
}

// complete gives a copy of the object with what an API server adds: type, name,
// namespace and, unless raw, the schema's defaults.
func (k *kind) complete(object map[string]any, name string, raw bool) map[string]any {
	if object == nil {
		return nil
	}
	object = runtime.DeepCopyJSON(object)
	setMissing(object, "apiVersion", k.apiVersion)
	setMissing(object, "kind", k.name)
	if _, ok := object["metadata"]; !ok {
		object["metadata"] = map[string]any{}
	}
	if metadata, ok := object["metadata"].(map[string]any); ok {
		if _, generated := metadata["generateName"]; !generated {
			setMissing(metadata, "name", name)
		}
		if k.namespaced {
			setMissing(metadata, "namespace", "default")
		}
	}
	if !raw {
		defaulting.Default(object, k.structural)
	}
	return object
}

func setMissing(object map[string]any, field, value string) {
	if _, ok := object[field]; !ok {
		object[field] = value
	}
}

// fault is a place in an object and what is wrong there.
type fault struct {
	path    []string
	problem string
}

// check finds unknown fields and, unless raw, values that the schema refuses.
// Required fields may be missing: cases are brief.
func (k *kind) check(object map[string]any, raw bool) []fault {
	var faults []fault
	for _, path := range k.unknownFields(object) {
		faults = append(faults, fault{splitPath(path), fmt.Sprintf("unknown field %q", path)})
	}
	if raw {
		return faults
	}
	for _, e := range validation.ValidateCustomResource(nil, object, k.validator) {
		if e.Type != field.ErrorTypeRequired {
			faults = append(faults, fault{splitPath(e.Field), e.Error()})
		}
	}
	return faults
}

func (k *kind) unknownFields(object map[string]any) []string {
	opts := schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}
	unknown := pruning.PruneWithOptions(runtime.DeepCopyJSON(object), k.structural, true, opts)
	_, _, inMeta, err := objectmeta.GetObjectMetaWithOptions(object, objectmeta.ObjectMetaOptions{
		DropMalformedFields: true, ReturnUnknownFieldPaths: true,
	})
	if err != nil {
		return append(unknown, "metadata")
	}
	return append(unknown, inMeta...)
}
