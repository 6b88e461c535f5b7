package why

import (
	"encoding/json"
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/quorate/quorate/cel"
)

// Shape is how the server completes an object of one kind before any layer judges
// it.
type Shape struct {
	schema    *structuralschema.Structural
	hasStatus bool
	// replicas is the path that the scale subresource sets.
	replicas []string
}

// Shapes reads the shapes of every version of the CRDs.
func Shapes(crds []*apiextensionsv1.CustomResourceDefinition) (map[schema.GroupVersionResource]Shape, error) {
	shapes := map[schema.GroupVersionResource]Shape{}
	for _, crd := range crds {
		for _, version := range crd.Spec.Versions {
			shape, err := shapeOf(version)
			if err != nil {
				return nil, fmt.Errorf("read version %s of CRD %s: %w", version.Name, crd.Name, err)
			}
			shapes[schema.GroupVersionResource{Group: crd.Spec.Group, Version: version.Name, Resource: crd.Spec.Names.Plural}] = shape
		}
	}
	return shapes, nil
}

func shapeOf(version apiextensionsv1.CustomResourceDefinitionVersion) (Shape, error) {
	internal := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, internal, nil); err != nil {
		return Shape{}, fmt.Errorf("convert schema: %w", err)
	}
	structural, err := structuralschema.NewStructural(internal)
	if err != nil {
		return Shape{}, fmt.Errorf("read schema: %w", err)
	}
	shape := Shape{schema: structural}
	if sub := version.Subresources; sub != nil {
		shape.hasStatus = sub.Status != nil
		if sub.Scale != nil {
			shape.replicas = strings.Split(strings.TrimPrefix(sub.Scale.SpecReplicasPath, "."), ".")
		}
	}
	return shape, nil
}

// complete drops unknown fields and sets defaults, as the server does.
func (s Shape) complete(object *unstructured.Unstructured) map[string]any {
	if s.schema != nil {
		pruning.Prune(object.Object, s.schema, true)
		defaulting.Default(object.Object, s.schema)
	}
	return object.Object
}

// created is what a create is judged as.
func (s Shape) created(object *unstructured.Unstructured) map[string]any {
	if s.hasStatus {
		delete(object.Object, "status")
	}
	return s.complete(object)
}

// ofServer are the metadata that a change of the object does not touch.
var ofServer = []string{"name", "namespace", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields"}

// updated is what a change of the object itself is judged as.
func (s Shape) updated(object, live *unstructured.Unstructured) map[string]any {
	live = live.DeepCopy()
	if s.hasStatus {
		replaceField(object.Object, live.Object, "status")
	}
	metadata, _ := object.Object["metadata"].(map[string]any)
	kept, _ := live.Object["metadata"].(map[string]any)
	for _, name := range ofServer {
		replaceField(metadata, kept, name)
	}
	return s.complete(object)
}

// patched applies a merge patch to what the subresource may change.
func (s Shape) patched(a Ask, live *unstructured.Unstructured, patch []byte) (map[string]any, error) {
	if a.Subresource == cel.Scale {
		return s.scaled(live.DeepCopy(), int64(*a.Replicas))
	}
	after, err := merge(live, patch)
	if err != nil {
		return nil, err
	}
	if a.Subresource != cel.Status {
		return s.updated(after, live), nil
	}
	changed := live.DeepCopy()
	replaceField(changed.Object, after.Object, "status")
	return s.complete(changed), nil
}

func (s Shape) scaled(live *unstructured.Unstructured, replicas int64) (map[string]any, error) {
	if len(s.replicas) == 0 {
		return live.Object, nil
	}
	if err := unstructured.SetNestedField(live.Object, replicas, s.replicas...); err != nil {
		return nil, fmt.Errorf("set the number of replicas: %w", err)
	}
	return live.Object, nil
}

func merge(live *unstructured.Unstructured, patch []byte) (*unstructured.Unstructured, error) {
	current, err := json.Marshal(live.Object)
	if err != nil {
		return nil, fmt.Errorf("encode the live object: %w", err)
	}
	merged, err := jsonpatch.MergePatch(current, patch)
	if err != nil {
		return nil, fmt.Errorf("apply the patch: %w", err)
	}
	after := &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(merged, &after.Object); err != nil {
		return nil, fmt.Errorf("decode the changed object: %w", err)
	}
	return after, nil
}

// replaceField takes over a field, or its absence.
func replaceField(to, from map[string]any, name string) {
	if value, ok := from[name]; ok && to != nil {
		to[name] = value
		return
	}
	delete(to, name)
}
