package webhooks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
)

// newRequest checks that a review concerns a kind of ours in a way that rules
// can judge. Whatever is not known is refused: a request that no rule
// understands must not slip through as one that no rule objects to.
//
// For a scale request the objects are still the Scales.
func newRequest(r *reviewRequest, known Resources) (*cel.Request, resource, error) {
	res, err := recognise(r, known)
	if err != nil {
		return nil, res, err
	}
	if err := checkShape(r, res); err != nil {
		return nil, res, err
	}
	return &cel.Request{
		Operation:   cel.Operation(r.Operation),
		Resource:    r.Resource.Resource,
		Subresource: r.SubResource,
		Namespace:   r.Namespace,
		Name:        nameOf(r),
		User:        r.UserInfo,
		DryRun:      r.DryRun,
		Object:      r.Object,
		OldObject:   r.OldObject,
	}, res, nil
}

func recognise(r *reviewRequest, known Resources) (resource, error) {
	gr := schema.GroupResource{Group: r.Resource.Group, Resource: r.Resource.Resource}
	res, ok := known[gr]
	switch {
	case !ok:
		return res, refuse(unknownResource, "%s is no resource that this gate judges, so it is refused: take it out of the rules of the webhook configuration", gr)
	case r.Resource.Version != res.kind.Version:
		return res, refuse(unknownVersion, "%s in version %q is refused, since its rules are written for %q: use that version, or the release of Quorate that serves yours", gr, r.Resource.Version, res.kind.Version)
	case !res.serves(r.SubResource):
		return res, refuse(unknownSubresource, "subresource %q of %s is refused, since no rule knows it: use a release of Quorate that does", r.SubResource, gr)
	case !judged(r.Operation, r.SubResource):
		return res, refuse(unknownOperation, "operation %q on %s is refused, since no rule knows it there: take it out of the rules of the webhook configuration", r.Operation, slashed(gr.String(), r.SubResource))
	case r.Namespace == "":
		return res, refuse(badObject, "a request for %s without a namespace is refused: its objects live in namespaces", gr)
	}
	return res, nil
}

// judged tells whether a rule can be about the operation. The API server sends
// changes of status and scale, by PUT or PATCH, as UPDATE alone.
func judged(operation, subresource string) bool {
	switch cel.Operation(operation) {
	case cel.Update:
		return true
	case cel.Create, cel.Delete:
		return subresource == cel.Main
	}
	return false
}

// checkShape makes sure that the objects are there, and only those, and that
// they are of the kind that the resource promises.
func checkShape(r *reviewRequest, res resource) error {
	op := cel.Operation(r.Operation)
	if err := checkObject("object", r.Object, op != cel.Delete, r, res); err != nil {
		return err
	}
	return checkObject("oldObject", r.OldObject, op != cel.Create, r, res)
}

func checkObject(field string, object map[string]any, wanted bool, r *reviewRequest, res resource) error {
	switch {
	case wanted && object == nil:
		return refuse(badObject, "%s of %s is refused, since its %s is null: send it whole", r.Operation, r.Resource.Resource, field)
	case !wanted && object != nil:
		return refuse(badObject, "%s of %s is refused, since it has an %s, which this operation cannot have", r.Operation, r.Resource.Resource, field)
	case !wanted:
		return nil
	}
	version, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	if want := expectedKind(r.SubResource, res); !want.matches(version, kind) {
		return refuse(badObject, "%s of %s is refused, since its %s is %q of %q and not %s", r.Operation, slashed(r.Resource.Resource, r.SubResource), field, kind, version, want)
	}
	return nil
}

// kindPattern is a kind in one version, or with an empty version in any.
type kindPattern schema.GroupVersionKind

func (p kindPattern) matches(apiVersion, kind string) bool {
	gv, err := schema.ParseGroupVersion(apiVersion)
	return err == nil && kind == p.Kind && gv.Group == p.Group &&
		(gv.Version == p.Version || p.Version == "" && gv.Version != "")
}

func (p kindPattern) String() string {
	if p.Version == "" {
		return fmt.Sprintf("%q of group %q", p.Kind, p.Group)
	}
	return fmt.Sprintf("%q of %q", p.Kind, schema.GroupVersion{Group: p.Group, Version: p.Version})
}

func expectedKind(subresource string, res resource) kindPattern {
	if subresource == cel.Scale {
		return kindPattern{Group: "autoscaling", Kind: "Scale"}
	}
	return kindPattern(res.kind)
}

// nameOf is the object's name. A deletion of a whole collection names no object
// in the request, but carries each; a creation with generateName may have none.
func nameOf(r *reviewRequest) string {
	if r.Name != "" {
		return r.Name
	}
	if r.OldObject != nil {
		return metadataString(r.OldObject, "name")
	}
	return ""
}

func metadataString(object map[string]any, key string) string {
	metadata, _ := object["metadata"].(map[string]any)
	s, _ := metadata[key].(string)
	return s
}

func slashed(resource, subresource string) string {
	if subresource == "" {
		return resource
	}
	return resource + "/" + subresource
}
