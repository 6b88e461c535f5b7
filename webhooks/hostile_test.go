package webhooks

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// statuses are of objects that somebody is working on, as JSON.
var statuses = map[string]string{
	"etcds": `{"replicas":3,"hibernatedReplicas":3,"scaleOperation":{"type":"ScaleOut","from":3,"to":5},
		"conditions":[{"type":"ScaleOperationInProgress","status":"True","reason":"ScalingOut","message":"","lastTransitionTime":"2026-01-31T02:00:00Z"}],
		"members":[{"id":"8e9e05c52164694d","name":"a-0","role":"Voter"}],
		"bootstrapWithExistingClusterMembers":[{"name":"src-7","peerURLs":["https://src-7.example.com:2380"]}]}`,
	"talosclusters":    `{"clusterID":"cdf818194e3a8c32","conditions":[{"type":"Quorate","status":"True","reason":"Quorate"}],"removedMembers":[{"id":"8e9e05c52164694d"}]}`,
	"talosmachines":    `{"phase":"Running","etcdMember":{"id":"8e9e05c52164694d","role":"Voter"}}`,
	"talosetcdbackups": `{"snapshots":[{"name":"etcd-20300102T150405Z.snapshot.age"}]}`,
	"talosoperations":  `{"phase":"Running","etcdRestore":{"step":"Fencing"}}`,
}

// wholeObjects are the samples with a status, by resource.
func wholeObjects(t testing.TB) map[string]map[string]any {
	t.Helper()
	all := map[string]map[string]any{}
	for sample, resource := range map[string]string{
		"etcd-bootstrap": "etcds", "taloscluster": "talosclusters", "talosmachine": "talosmachines",
		"talosetcdbackup": "talosetcdbackups", "talosoperation": "talosoperations",
	} {
		source, err := os.ReadFile("../manifests/samples/" + sample + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		data, err := yaml.YAMLToJSON(source)
		if err != nil {
			t.Fatal(err)
		}
		object := parsed(t, string(data)).(map[string]any)
		object["status"] = parsed(t, statuses[resource])
		metadata := object["metadata"].(map[string]any)
		metadata["namespace"], metadata["resourceVersion"], metadata["finalizers"] = "ns", "7", []any{"quorate.dev/guard"}
		metadata["annotations"] = map[string]any{"quorate.dev/allow-delete": "true"}
		all[resource] = object
	}
	return all
}

// parsed is what the gate's own decoder makes of JSON.
func parsed(t testing.TB, text string) any {
	t.Helper()
	review, err := decode([]byte(reviewOf(fields{"object": `{"x":` + text + `}`})))
	if err != nil {
		t.Fatal(err)
	}
	return review.Request.Object["x"]
}

// hostile are values that no field expects, or only another one.
func hostile() []any {
	deep := any("bottom")
	for range 500 {
		deep = map[string]any{"a": []any{deep}}
	}
	return []any{
		nil, true, int64(0), int64(-1), int64(1 << 62), 2.5, 1e300, "", "text", "odd-\u0000\ufffd日本\u202e", strings.Repeat("x", 4096),
		[]any{}, []any{nil}, []any{int64(1), "a", map[string]any{}}, []any{[]any{[]any{}}}, map[string]any{},
		map[string]any{"": nil, "__proto__": int64(1), "a/b": "c", "type": int64(1), "name": []any{}}, deep,
	}
}

// Which fields are replaced: metadata, spec and status as a whole, or each value.
const (
	atTop      = 1
	everywhere = 1 << 10
)

// variantsOf are copies of the object, each with one field at most so deep replaced
// by one hostile value, or left out.
func variantsOf(object map[string]any, depth int) []map[string]any {
	var all []map[string]any
	for _, path := range pathsOf(object, depth) {
		if len(path) == 1 && (path[0] == "kind" || path[0] == "apiVersion") {
			continue // another kind, and refused for that
		}
		for _, value := range append(hostile(), absent) {
			copied := runtime.DeepCopyJSON(object)
			replace(copied, path, value)
			all = append(all, copied)
		}
	}
	return all
}

// absent stands for a field that is left out.
var absent = new(int)

// pathsOf are the ways to every value, each step a key or an index.
func pathsOf(value any, depth int) [][]any {
	if depth == 0 {
		return nil
	}
	var all [][]any
	below := func(step any, v any) {
		all = append(all, []any{step})
		for _, path := range pathsOf(v, depth-1) {
			all = append(all, append([]any{step}, path...))
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for key, child := range v {
			below(key, child)
		}
	case []any:
		for i, child := range v {
			below(i, child)
		}
	}
	return all
}

func replace(in any, path []any, value any) {
	if len(path) > 1 {
		replace(child(in, path[0]), path[1:], value)
		return
	}
	switch v := in.(type) {
	case map[string]any:
		if v[path[0].(string)] = value; value == absent {
			delete(v, path[0].(string))
		}
	case []any:
		if v[path[0].(int)] = value; value == absent {
			v[path[0].(int)] = nil
		}
	}
}

func child(in any, step any) any {
	if list, ok := in.([]any); ok {
		return list[step.(int)]
	}
	return in.(map[string]any)[step.(string)]
}

// hostileReviews ask about every variant of every kind: as new object, as old one,
// and as both, by a user without rights and by the controller.
func hostileReviews(t testing.TB, depth int) []string {
	t.Helper()
	var all []string
	for resource, whole := range wholeObjects(t) {
		sound := encoded(t, whole)
		for i, variant := range variantsOf(whole, depth) {
			odd := encoded(t, variant)
			asked := fields{
				"resource": `{"group":"quorate.dev","version":"v1alpha1","resource":"` + resource + `"}`,
				"userInfo": []string{`{"username":"mallory"}`, `{"username":"` + controller + `"}`}[i%2], "namespace": []string{`"ns"`, `"odd"`}[i/2%2],
				"subResource": []string{`""`, `"status"`}[i/4%2], "object": odd, "oldObject": sound,
			}
			all = append(all, reviewOf(asked))
			asked["object"], asked["oldObject"] = sound, odd
			all = append(all, reviewOf(asked))
			asked["subResource"] = `""`
			asked["operation"], asked["object"], asked["oldObject"] = `"CREATE"`, odd, "null"
			all = append(all, reviewOf(asked))
			asked["operation"], asked["object"], asked["oldObject"] = `"DELETE"`, "null", odd
			all = append(all, reviewOf(asked))
		}
	}
	slices.Sort(all)
	return all
}

func encoded(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
