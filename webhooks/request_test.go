package webhooks

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/cel"
)

// Whatever the gate does not know is refused before any rule is asked.
func TestUnknownRequests(t *testing.T) {
	const machine = `{"apiVersion":"quorate.dev/v1alpha1","kind":"TalosMachine","metadata":{"name":"a"}}`
	for _, tt := range []struct {
		name   string
		fields fields
		want   plain
	}{
		{"another group's resource", fields{"resource": `{"group":"apps","version":"v1","resource":"deployments"}`},
			plain{400, "BadRequest", "deployments.apps is no resource that this gate judges, so it is refused: take it out of the rules of the webhook configuration (unknown-resource)"}},
		{"our name in another group", fields{"resource": `{"group":"example.com","version":"v1alpha1","resource":"etcds"}`},
			plain{400, "BadRequest", "etcds.example.com is no resource that this gate judges, so it is refused: take it out of the rules of the webhook configuration (unknown-resource)"}},
		{"no resource", fields{"resource": `null`},
			plain{400, "BadRequest", " is no resource that this gate judges, so it is refused: take it out of the rules of the webhook configuration (unknown-resource)"}},
		{"another version", fields{"resource": `{"group":"quorate.dev","version":"v2","resource":"etcds"}`},
			plain{400, "BadRequest", `etcds.quorate.dev in version "v2" is refused, since its rules are written for "v1alpha1": use that version, or the release of Quorate that serves yours (unknown-version)`}},
		{"an unknown subresource", fields{"subResource": `"finalize"`},
			plain{400, "BadRequest", `subresource "finalize" of etcds.quorate.dev is refused, since no rule knows it: use a release of Quorate that does (unknown-subresource)`}},
		{"a subresource in other letters", fields{"subResource": `"Status"`},
			plain{400, "BadRequest", `subresource "Status" of etcds.quorate.dev is refused, since no rule knows it: use a release of Quorate that does (unknown-subresource)`}},
		{"scale of a kind that has none", fields{"resource": `{"group":"quorate.dev","version":"v1alpha1","resource":"talosmachines"}`, "subResource": `"scale"`},
			plain{400, "BadRequest", `subresource "scale" of talosmachines.quorate.dev is refused, since no rule knows it: use a release of Quorate that does (unknown-subresource)`}},
		{"CONNECT", fields{"operation": `"CONNECT"`},
			plain{400, "BadRequest", `operation "CONNECT" on etcds.quorate.dev is refused, since no rule knows it there: take it out of the rules of the webhook configuration (unknown-operation)`}},
		{"no operation", fields{"operation": `""`},
			plain{400, "BadRequest", `operation "" on etcds.quorate.dev is refused, since no rule knows it there: take it out of the rules of the webhook configuration (unknown-operation)`}},
		{"an operation in small letters", fields{"operation": `"delete"`},
			plain{400, "BadRequest", `operation "delete" on etcds.quorate.dev is refused, since no rule knows it there: take it out of the rules of the webhook configuration (unknown-operation)`}},
		{"DELETE of a status", fields{"operation": `"DELETE"`, "subResource": `"status"`, "object": "null"},
			plain{400, "BadRequest", `operation "DELETE" on etcds.quorate.dev/status is refused, since no rule knows it there: take it out of the rules of the webhook configuration (unknown-operation)`}},
		{"no namespace", fields{"namespace": `""`},
			plain{400, "BadRequest", "a request for etcds.quorate.dev without a namespace is refused: its objects live in namespaces (bad-object)"}},
		{"UPDATE to null", fields{"object": "null"},
			plain{400, "BadRequest", "UPDATE of etcds is refused, since its object is null: send it whole (bad-object)"}},
		{"UPDATE from null", fields{"oldObject": "null"},
			plain{400, "BadRequest", "UPDATE of etcds is refused, since its oldObject is null: send it whole (bad-object)"}},
		{"CREATE of null", fields{"operation": `"CREATE"`, "object": "null", "oldObject": "null"},
			plain{400, "BadRequest", "CREATE of etcds is refused, since its object is null: send it whole (bad-object)"}},
		{"CREATE over an old object", fields{"operation": `"CREATE"`},
			plain{400, "BadRequest", "CREATE of etcds is refused, since it has an oldObject, which this operation cannot have (bad-object)"}},
		{"DELETE of nothing", fields{"operation": `"DELETE"`, "object": "null", "oldObject": "null"},
			plain{400, "BadRequest", "DELETE of etcds is refused, since its oldObject is null: send it whole (bad-object)"}},
		{"DELETE with a new object", fields{"operation": `"DELETE"`},
			plain{400, "BadRequest", "DELETE of etcds is refused, since it has an object, which this operation cannot have (bad-object)"}},
		{"an object of another kind", fields{"object": machine},
			plain{400, "BadRequest", `UPDATE of etcds is refused, since its object is "TalosMachine" of "quorate.dev/v1alpha1" and not "Etcd" of "quorate.dev/v1alpha1" (bad-object)`}},
		{"an old object of another kind", fields{"oldObject": machine},
			plain{400, "BadRequest", `UPDATE of etcds is refused, since its oldObject is "TalosMachine" of "quorate.dev/v1alpha1" and not "Etcd" of "quorate.dev/v1alpha1" (bad-object)`}},
		{"an object without a kind", fields{"object": "{}"},
			plain{400, "BadRequest", `UPDATE of etcds is refused, since its object is "" of "" and not "Etcd" of "quorate.dev/v1alpha1" (bad-object)`}},
		{"an object of another version", fields{"object": strings.Replace(etcd(3), "v1alpha1", "v1", 1)},
			plain{400, "BadRequest", `UPDATE of etcds is refused, since its object is "Etcd" of "quorate.dev/v1" and not "Etcd" of "quorate.dev/v1alpha1" (bad-object)`}},
		{"a Scale sent as the object itself", fields{"object": scaleOf(`{"replicas":5}`)},
			plain{400, "BadRequest", `UPDATE of etcds is refused, since its object is "Scale" of "autoscaling/v1" and not "Etcd" of "quorate.dev/v1alpha1" (bad-object)`}},
		{"an Etcd sent as a Scale", fields{"subResource": `"scale"`},
			plain{400, "BadRequest", `UPDATE of etcds/scale is refused, since its object is "Etcd" of "quorate.dev/v1alpha1" and not "Scale" of group "autoscaling" (bad-object)`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			response := f.ask(t, reviewOf(tt.fields))
			if got := plainOf(response.Result); response.Allowed || got != tt.want {
				t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, got, tt.want)
			}
			if len(f.judge.asked) > 0 {
				t.Error("the rules were asked")
			}
		})
	}
}

// What is known reaches the rules as it was sent.
func TestKnownRequests(t *testing.T) {
	for _, tt := range []struct {
		name   string
		fields fields
		want   func(*cel.Request)
	}{
		{"UPDATE", nil, func(*cel.Request) {}},
		{"UPDATE of the status", fields{"subResource": `"status"`}, func(r *cel.Request) { r.Subresource = "status" }},
		{"dry run", fields{"dryRun": "true"}, func(r *cel.Request) { r.DryRun = true }},
		{"CREATE", fields{"operation": `"CREATE"`, "oldObject": "null"}, func(r *cel.Request) { r.Operation, r.OldObject = "CREATE", nil }},
		{"CREATE with generateName", fields{"operation": `"CREATE"`, "oldObject": "null", "name": `""`}, func(r *cel.Request) { r.Operation, r.OldObject, r.Name = "CREATE", nil, "" }},
		{"DELETE", fields{"operation": `"DELETE"`, "object": "null"}, func(r *cel.Request) { r.Operation, r.Object = "DELETE", nil }},
		{"DELETE of a collection", fields{"operation": `"DELETE"`, "object": "null", "name": `""`}, func(r *cel.Request) { r.Operation, r.Object, r.Name = "DELETE", nil, "a" }},
		{"Unicode", fields{"name": `"ä\u0000\u202e漢"`}, func(r *cel.Request) { r.Name = "ä\x00\u202e漢" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			if response := f.ask(t, reviewOf(tt.fields)); !response.Allowed {
				t.Fatalf("refused: %+v", plainOf(response.Result))
			}
			got := *f.judge.last(t)
			got.Authorizer = nil
			want := cel.Request{Operation: "UPDATE", Resource: "etcds", Namespace: "ns", Name: "a", Object: object(3), OldObject: object(3)}
			want.User.Username, want.User.Groups = "alice", []string{"dev"}
			tt.want(&want)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("the rules were asked\n%+v, want\n%+v", got, want)
			}
		})
	}
}

// object is what etcd reads as: whole numbers are int64.
func object(replicas int64) map[string]any {
	return map[string]any{
		"apiVersion": "quorate.dev/v1alpha1", "kind": "Etcd",
		"metadata": map[string]any{"name": "a", "namespace": "ns", "resourceVersion": "7"},
		"spec":     map[string]any{"replicas": replicas},
	}
}

func TestUnusableDefinitions(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*apiextensionsv1.CustomResourceDefinition)
		want  string
	}{
		{"cluster-scoped", func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Scope = "Cluster" },
			`read etcds.quorate.dev: unusable custom resource definition: scope "Cluster" is not Namespaced`},
		{"nothing stored", func(c *apiextensionsv1.CustomResourceDefinition) { c.Spec.Versions[0].Storage = false },
			"read etcds.quorate.dev: unusable custom resource definition: no storage version"},
		{"scale elsewhere", func(c *apiextensionsv1.CustomResourceDefinition) {
			c.Spec.Versions[0].Subresources.Scale.SpecReplicasPath = ".status.replicas"
		}, `read etcds.quorate.dev: unusable custom resource definition: scale path ".status.replicas" is not within .spec`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			all := crds()
			tt.spoil(all[0])
			if _, err := ResourcesOf(all); !errors.Is(err, ErrUnusableCRD) || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
