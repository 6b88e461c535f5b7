package webhooks

import (
	"errors"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
)

// ErrUnusableCRD marks a definition that the gate cannot work with.
var ErrUnusableCRD = errors.New("unusable custom resource definition")

// resource is what the gate must know of a kind to recognise its objects.
type resource struct {
	kind schema.GroupVersionKind
	// status and scale tell whether the subresource is served.
	status, scale bool
	// replicas is the field behind the scale subresource.
	replicas []string
}

// Resources are the kinds that the gate judges.
type Resources map[schema.GroupResource]resource

// ResourcesOf reads the kinds from their definitions, so that nothing about
// them is written down twice. Only the storage version is judged: the webhook
// configuration's matchPolicy Equivalent has the API server convert to it.
func ResourcesOf(crds []*apiextensionsv1.CustomResourceDefinition) (Resources, error) {
	known := Resources{}
	for _, crd := range crds {
		r, err := resourceOf(crd)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", crd.Name, err)
		}
		known[schema.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural}] = r
	}
	return known, nil
}

func resourceOf(crd *apiextensionsv1.CustomResourceDefinition) (resource, error) {
	if crd.Spec.Scope != apiextensionsv1.NamespaceScoped {
		return resource{}, fmt.Errorf("%w: scope %q is not Namespaced", ErrUnusableCRD, crd.Spec.Scope)
	}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			return versionOf(crd, v)
		}
	}
	return resource{}, fmt.Errorf("%w: no storage version", ErrUnusableCRD)
}

func versionOf(crd *apiextensionsv1.CustomResourceDefinition, v apiextensionsv1.CustomResourceDefinitionVersion) (resource, error) {
	r := resource{kind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}}
	if v.Subresources == nil {
		return r, nil
	}
	r.status = v.Subresources.Status != nil
	if s := v.Subresources.Scale; s != nil {
		path := strings.Split(strings.TrimPrefix(s.SpecReplicasPath, "."), ".")
		if len(path) < 2 || path[0] != "spec" {
			return r, fmt.Errorf("%w: scale path %q is not within .spec", ErrUnusableCRD, s.SpecReplicasPath)
		}
		r.scale, r.replicas = true, path
	}
	return r, nil
}

// serves reports whether the kind has the subresource.
func (r resource) serves(subresource string) bool {
	switch subresource {
	case cel.Main:
		return true
	case cel.Status:
		return r.status
	case cel.Scale:
		return r.scale
	}
	return false
}
