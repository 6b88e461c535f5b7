package parity

import (
	"context"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
)

// trial is a pair at the API server: the request's objects are as the server has
// them, and sent is what makes it so.
type trial struct {
	parity.Pair
	sent *unstructured.Unstructured // nil for a deletion
}

// namespaces is their number: several objects share one, for rules that look at
// others.
const namespaces = 50

func namespace(number uint64) string { return fmt.Sprintf("parity-%d", number%namespaces) }

// newTrial prepares the request of a pair whose old object is stored, if it has
// one. The new object is not known yet.
func newTrial(p parity.Pair, old *unstructured.Unstructured) *trial {
	r := *p.Request
	r.Namespace, r.Name, r.DryRun = namespace(p.Number), fmt.Sprintf("it-%d", p.Number), true
	if old != nil {
		r.OldObject = old.Object
	}
	t := &trial{Pair: p, sent: sent(p, &r)}
	t.Request = &r
	return t
}

func sent(p parity.Pair, r *cel.Request) *unstructured.Unstructured {
	switch {
	case r.Operation == cel.Delete:
		return nil
	case r.Subresource == cel.Scale:
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": metadataOf(r),
			"spec": map[string]any{"replicas": replicas(p.Request.Object)},
		}}
	}
	object := runtime.DeepCopyJSON(p.Sent)
	metadata := metadataOf(r)
	copyMetadata(metadata, object["metadata"].(map[string]any))
	object["metadata"] = metadata
	return &unstructured.Unstructured{Object: object}
}

// metadataOf names the object; the old one's identity is that of the change.
func metadataOf(r *cel.Request) map[string]any {
	out := map[string]any{"name": r.Name, "namespace": r.Namespace}
	if old, ok := r.OldObject["metadata"].(map[string]any); ok && r.Operation == cel.Update {
		out["uid"], out["resourceVersion"] = old["uid"], old["resourceVersion"]
	}
	return out
}

// copyMetadata takes over what users write there.
func copyMetadata(to, from map[string]any) {
	for _, name := range []string{"finalizers", "labels", "annotations"} {
		if value, ok := from[name]; ok {
			to[name] = value
		}
	}
}

func replicas(object map[string]any) any { return object["spec"].(map[string]any)["replicas"] }

// received completes the request by what the API server made of the new object.
func (t *trial) received(answer *unstructured.Unstructured) {
	switch r := t.Request; {
	case r.Operation == cel.Delete:
	case r.Subresource == cel.Scale:
		r.Object = runtime.DeepCopyJSON(r.OldObject)
		spec := maps.Clone(r.Object["spec"].(map[string]any))
		spec["replicas"] = replicas(t.sent.Object)
		r.Object["spec"] = spec
	default:
		r.Object = answer.Object
	}
}

var dryRun = []string{metav1.DryRunAll}

// ask sends the request as its user and answers the new object.
func (p people) ask(ctx context.Context, t *trial) (*unstructured.Unstructured, error) {
	r := t.Request
	client := resource(p[r.User.Username], r)
	switch {
	case r.Operation == cel.Create:
		return client.Create(ctx, t.sent, metav1.CreateOptions{DryRun: dryRun})
	case r.Operation == cel.Delete:
		return nil, client.Delete(ctx, r.Name, metav1.DeleteOptions{DryRun: dryRun})
	case r.Subresource == cel.Main:
		return client.Update(ctx, t.sent, metav1.UpdateOptions{DryRun: dryRun})
	}
	return client.Update(ctx, t.sent, metav1.UpdateOptions{DryRun: dryRun}, r.Subresource)
}

func resource(client dynamic.Interface, r *cel.Request) dynamic.ResourceInterface {
	return client.Resource(v1alpha1.GroupVersion.WithResource(r.Resource)).Namespace(r.Namespace)
}
