package suite

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/quorate/quorate/cel"
)

// sampleName is the name of objects that have none.
const sampleName = "sample"

// request turns a case into the request that an API server would have judged.
// Problems carry their place in the case file.
func (k *kind) request(c *Case, resource string) (*cel.Request, error) {
	before := k.complete(c.Old, sampleName, c.Raw)
	after := k.after(c, before)
	if c.Operation == cel.Create {
		before = nil
	}
	problems := append(k.faults(c, "old", before), k.faults(c, "new", after)...)
	if !c.Raw {
		problems = append(problems, k.settle(c, before, &after))
	}
	r := &cel.Request{
		Operation: c.Operation, Resource: resource, Subresource: c.Subresource,
		User: c.User, DryRun: c.DryRun, Object: after, OldObject: before,
	}
	r.Namespace, r.Name = identity(after, before)
	return r, errors.Join(problems...)
}

func (k *kind) after(c *Case, before map[string]any) map[string]any {
	if c.Operation == cel.Delete {
		return nil
	}
	base := before
	if c.New != nil {
		base = k.complete(c.New, sampleName, c.Raw)
	}
	return k.complete(mergePatch(base, c.Patch), sampleName, c.Raw)
}

func (k *kind) faults(c *Case, field string, object map[string]any) []error {
	if object == nil {
		return nil
	}
	var problems []error
	for _, f := range k.check(object, c.Raw) {
		problems = append(problems, c.source.errorf(c.source.inObject(f.path, field), "%s: %s", field, f.problem))
	}
	return problems
}

// inObject finds a field of the object before (old) or after (new, patch, old).
func (s source) inObject(path []string, field string) Position {
	roots := []string{"old"}
	if field != "old" {
		roots = []string{"patch", "new", "old"}
	}
	for _, root := range roots {
		for _, node := range []source{{file: s.file, own: s.own}, {file: s.file, own: s.defaulted}} {
			if _, depth := descend(node.own, append([]string{root}, path...)); depth == len(path)+1 {
				return node.at(append([]string{root}, path...)...)
			}
		}
	}
	return s.at(append([]string{roots[0]}, path...)...)
}

// settle makes of the object after what the API server would make of it.
func (k *kind) settle(c *Case, before map[string]any, after *map[string]any) (err error) {
	switch {
	case *after == nil:
	case before != nil:
		*after, err = k.keep(c, before, *after)
	case k.hasStatus:
		err = c.refuseField("status", "a created object has no status; say raw: true to judge it all the same")
		delete(*after, "status")
	}
	return err
}

// keep undoes what the API server would not let the request change, and refuses
// a case that asks for such a change.
func (k *kind) keep(c *Case, before, after map[string]any) (map[string]any, error) {
	switch c.Subresource {
	case cel.Status:
		return k.keepAllBut(c, before, after, "status", "an update of status changes nothing else; say raw: true to judge it all the same")
	case cel.Scale:
		if len(k.replicasPath) == 0 {
			return after, c.source.errorf(c.source.at("subresource"), "subresource: %s has no scale subresource", k.name)
		}
		return k.keepAllBut(c, before, after, k.replicasPath[0], "a scale request changes the replicas alone; say raw: true to judge it all the same")
	}
	if !k.hasStatus || reflect.DeepEqual(before["status"], after["status"]) {
		return after, nil
	}
	err := c.refuseField("status", "an update of the object keeps its status; say subresource: status, or raw: true")
	delete(after, "status")
	if status, ok := before["status"]; ok {
		after["status"] = runtime.DeepCopyJSONValue(status)
	}
	return after, err
}

func (k *kind) keepAllBut(c *Case, before, after map[string]any, field, why string) (map[string]any, error) {
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if name != field && !reflect.DeepEqual(before[name], after[name]) {
			problems = append(problems, c.refuseField(name, why))
		}
	}
	kept := runtime.DeepCopyJSON(before)
	delete(kept, field)
	if value, ok := after[field]; ok {
		kept[field] = value
	}
	if c.Subresource == cel.Scale {
		kept = k.scaled(before, after)
		if !reflect.DeepEqual(kept[field], after[field]) {
			problems = append(problems, c.refuseField(field, why))
		}
	}
	return kept, errors.Join(problems...)
}

func (k *kind) scaled(before, after map[string]any) map[string]any {
	kept := runtime.DeepCopyJSON(before)
	replicas, found, err := unstructured.NestedFieldNoCopy(after, k.replicasPath...)
	if err == nil && found {
		_ = unstructured.SetNestedField(kept, replicas, k.replicasPath...)
	}
	return kept
}

// refuseField is nil unless the case spells the field out for the object after.
func (c *Case) refuseField(field, why string) error {
	for _, root := range []string{"patch", "new"} {
		for _, node := range []source{{file: c.source.file, own: c.source.own}, {file: c.source.file, own: c.source.defaulted}} {
			if _, depth := descend(node.own, []string{root, field}); depth == 2 {
				return c.source.errorf(node.at(root, field), "%s.%s: %s", root, field, why)
			}
		}
	}
	return nil
}

func identity(after, before map[string]any) (namespace, name string) {
	object := after
	if object == nil {
		object = before
	}
	u := unstructured.Unstructured{Object: object}
	return u.GetNamespace(), u.GetName()
}

func liveName(name string, i int) string {
	if name != "" {
		return name
	}
	return fmt.Sprintf("%s-%d", sampleName, i)
}
