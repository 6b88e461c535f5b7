package webhooks

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/quorate/quorate/cel"
)

// readParents turns a request whose objects are Scales, which show no
// conditions, into one whose objects are the parents: the one that lives now,
// and what the Scale would make of it.
//
// The parent is taken as it lives even where the old Scale's resourceVersion is
// another: then somebody was faster, the API server will find the conflict and
// ask again, and a verdict on the outdated parent would be worth nothing.
func (g *Gate) readParents(ctx context.Context, b budget, r *cel.Request, res resource) error {
	replicas, err := replicasOf(r.Object)
	if err != nil {
		return err
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	parent, found, err := g.live.Get(ctx, r.Resource, r.Namespace, r.Name)
	switch {
	case err != nil:
		return unread(b, failedRead{cel.LiveTarget{Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}, err})
	case !found:
		return refuseMissing(parentNotFound, "scaling %s %q is refused, since there is no such object in namespace %q any more", r.Resource, r.Name, r.Namespace)
	}
	scaled, err := scaleTo(parent, res.replicas, replicas)
	if err != nil {
		return err
	}
	r.Object, r.OldObject = scaled, parent
	return nil
}

// replicasOf is the size that a Scale asks for. Zero is left out on the wire.
func replicasOf(scale map[string]any) (int64, error) {
	replicas, _, err := unstructured.NestedInt64(scale, "spec", "replicas")
	if err != nil {
		return 0, refuse(badObject, "a Scale is refused, since its spec.replicas is not a whole number")
	}
	return replicas, nil
}

// scaleTo is a copy of the parent at another size.
func scaleTo(parent map[string]any, path []string, replicas int64) (map[string]any, error) {
	scaled := runtime.DeepCopyJSON(parent)
	if err := unstructured.SetNestedField(scaled, replicas, path...); err != nil {
		return nil, refuseBroken(badObject, "a Scale is refused, since its size could not be set on a copy of the object: %v", err)
	}
	return scaled, nil
}
