package why

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
)

// Target is an object on the server.
type Target struct {
	Resource schema.GroupVersionResource
	// Namespace is empty for a cluster-scoped kind, Name with generateName.
	Namespace, Name string
}

// String is the object as kubectl prints it.
func (t Target) String() string {
	name := t.Resource.GroupResource().String() + "/" + t.Name
	if t.Name == "" {
		return name + "(generated)"
	}
	return name
}

// Ask is a question about one object. The zero ways mean what kubectl apply
// does: create the object, or change the live one.
type Ask struct {
	Target Target
	// Object is what the user holds. For a delete and a scale only its name counts.
	Object *unstructured.Unstructured
	// Delete asks about deleting it.
	Delete bool
	// Replace sends the object whole, as kubectl replace does.
	Replace bool
	// Subresource is cel.Main, cel.Status or cel.Scale.
	Subresource string
	// Replicas is the size to scale to; only with cel.Scale.
	Replicas *int32
}

// ErrAsk marks a question that contradicts itself.
var ErrAsk = errors.New("contradictory question")

// Validate tells whether the parts of the question fit together.
func (a Ask) Validate() error {
	scales := a.Subresource == cel.Scale
	for _, rule := range []struct {
		broken bool
		why    string
	}{
		{a.Subresource != cel.Main && a.Subresource != cel.Status && !scales,
			fmt.Sprintf("subresource %q: want status or scale", a.Subresource)},
		{scales && a.Replicas == nil, "subresource scale needs a number of replicas"},
		{!scales && a.Replicas != nil, "a number of replicas needs the subresource scale"},
		{a.Replicas != nil && *a.Replicas < 0, "a number of replicas is not negative"},
		{a.Delete && (a.Subresource != cel.Main || a.Replace), "a delete has no subresource and replaces nothing"},
		{a.Replace && a.Subresource != cel.Main, "only the object itself is replaced"},
	} {
		if rule.broken {
			return fmt.Errorf("%w: %s", ErrAsk, rule.why)
		}
	}
	return nil
}
