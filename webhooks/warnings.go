package webhooks

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
)

// advisedKind is the kind whose size earns advice.
var advisedKind = schema.GroupKind{Group: "quorate.dev", Kind: "Etcd"}

// largestAdvised is the largest size that etcd's own documentation recommends.
const largestAdvised = 7

// advice is what an allowed request for an etcd cluster should know about the
// size it asks for. Each text says what, why, and the way out. A request that
// leaves the size as it is earns none: it would be noise on every status write.
func advice(kind schema.GroupKind, r *cel.Request) []string {
	size, ok := sizeOf(r.Object)
	old, had := sizeOf(r.OldObject)
	if kind != advisedKind || !ok || size <= 0 || had && old == size {
		return nil
	}
	var texts []string
	if size%2 == 0 {
		texts = append(texts, fmt.Sprintf("spec.replicas: %d members survive the loss of %d, no more than %d would: use %d or %d", size, tolerated(size), size-1, size-1, size+1))
	}
	if size > largestAdvised {
		texts = append(texts, fmt.Sprintf("spec.replicas: with %d members each write waits for %d of them: use %d or fewer", size, quorum(size), largestAdvised))
	}
	return texts
}

func quorum(size int64) int64 { return size/2 + 1 }

func tolerated(size int64) int64 { return size - quorum(size) }

func sizeOf(object map[string]any) (int64, bool) {
	size, found, err := unstructured.NestedInt64(object, "spec", "replicas")
	return size, found && err == nil
}
