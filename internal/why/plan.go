package why

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"

	"github.com/quorate/quorate/cel"
)

// lastApplied is where kubectl apply keeps what it applied last; a field that was
// there and is gone from the file is removed.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Attempt is the request to send as a dry run. One of Create, Replace and Patch
// is set, none for a delete.
type Attempt struct {
	Operation   cel.Operation
	Subresource string
	Create      *unstructured.Unstructured
	Replace     *unstructured.Unstructured
	// Patch is a JSON merge patch.
	Patch []byte
	// ResourceVersion is the version that the plan is made for; the server answers
	// a conflict when the object has changed since.
	ResourceVersion string
}

// Plan is what to send, and what an admission layer would be shown.
type Plan struct {
	Attempt Attempt
	// Old is nil where there is no live object, New is nil for a delete.
	Old, New map[string]any
}

// MakePlan works out the request for the live object, nil if it does not exist.
// The shape says how the server completes an object of this kind; the zero Shape
// is for kinds that are not judged here.
func MakePlan(a Ask, live *unstructured.Unstructured, s Shape) (Plan, error) {
	plan := Plan{}
	if live != nil {
		plan.Old = live.Object
		plan.Attempt.ResourceVersion = live.GetResourceVersion()
	}
	switch {
	case a.Delete:
		plan.Attempt.Operation = cel.Delete
		return plan, nil
	case a.Subresource == cel.Main && live == nil && !a.Replace:
		return plan.create(a, s), nil
	case a.Replace:
		return plan.replace(a, live, s), nil
	}
	return plan.patch(a, live, s)
}

func (p Plan) create(a Ask, s Shape) Plan {
	p.Attempt.Operation, p.Attempt.Create = cel.Create, a.Object
	p.New = s.created(a.Object.DeepCopy())
	return p
}

func (p Plan) replace(a Ask, live *unstructured.Unstructured, s Shape) Plan {
	object := a.Object.DeepCopy()
	if object.GetResourceVersion() == "" {
		object.SetResourceVersion(p.Attempt.ResourceVersion)
	}
	p.Attempt.Operation, p.Attempt.Replace = cel.Update, object
	if live != nil {
		p.New = s.updated(object.DeepCopy(), live)
	}
	return p
}

func (p Plan) patch(a Ask, live *unstructured.Unstructured, s Shape) (Plan, error) {
	p.Attempt.Operation, p.Attempt.Subresource = cel.Update, a.Subresource
	patch, err := patchOf(a, live)
	if err != nil {
		return Plan{}, err
	}
	if p.Attempt.Patch, err = versioned(patch, p.Attempt.ResourceVersion); err != nil {
		return Plan{}, err
	}
	if live == nil {
		return p, nil
	}
	p.New, err = s.patched(a, live, patch)
	return p, err
}

// patchOf is the merge patch of the question, without a version.
func patchOf(a Ask, live *unstructured.Unstructured) ([]byte, error) {
	switch a.Subresource {
	case cel.Scale:
		return json.Marshal(map[string]any{"spec": map[string]any{"replicas": *a.Replicas}})
	case cel.Status:
		return json.Marshal(map[string]any{"status": a.Object.Object["status"]})
	}
	return applyPatch(a.Object, live)
}

// applyPatch is the three-way patch of kubectl apply for custom resources: what
// the file says, less what the last apply said and the file does not any more.
func applyPatch(object, live *unstructured.Unstructured) ([]byte, error) {
	modified, err := json.Marshal(withoutStatus(object))
	if err != nil {
		return nil, fmt.Errorf("encode the object: %w", err)
	}
	current, err := json.Marshal(live.Object)
	if err != nil {
		return nil, fmt.Errorf("encode the live object: %w", err)
	}
	original := []byte(live.GetAnnotations()[lastApplied])
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(original, modified, current)
	if err != nil {
		return nil, fmt.Errorf("compare the object with the live one: %w", err)
	}
	return patch, nil
}

// withoutStatus: the server ignores a status in a change of the object itself.
func withoutStatus(object *unstructured.Unstructured) map[string]any {
	copied := object.DeepCopy().Object
	delete(copied, "status")
	return copied
}

// versioned puts the live version into the patch, so that the server judges the
// same object as the computed layers do.
func versioned(patch []byte, version string) ([]byte, error) {
	if version == "" {
		return patch, nil
	}
	guard, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": version}})
	if err != nil {
		return nil, fmt.Errorf("encode the version: %w", err)
	}
	merged, err := jsonpatch.MergeMergePatches(patch, guard)
	if err != nil {
		return nil, fmt.Errorf("add the version to the patch: %w", err)
	}
	return merged, nil
}
