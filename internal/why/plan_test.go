package why

import (
	"errors"
	"reflect"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
)

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// widgetCRD has a default, a status and a scale whose path is not the usual one.
const widgetCRD = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.size.count, statusReplicasPath: .status.count}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              paint: {type: string, default: red}
              parts: {type: array, items: {type: string}}
              size: {type: object, properties: {count: {type: integer}}}
          status:
            type: object
            properties: {count: {type: integer}, colour: {type: string}}
`

func widgetShape(t *testing.T) Shape {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(widgetCRD), crd); err != nil {
		t.Fatal(err)
	}
	shapes, err := Shapes([]*apiextensionsv1.CustomResourceDefinition{crd})
	if err != nil {
		t.Fatal(err)
	}
	return shapes[widgets]
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	o := &unstructured.Unstructured{}
	json, err := yaml.YAMLToJSONStrict([]byte("apiVersion: example.com/v1\nkind: Widget\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON(json); err != nil {
		t.Fatal(err)
	}
	return o
}

const live = `
metadata:
  name: a
  uid: u1
  resourceVersion: "7"
  labels: {team: blue}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"paint":"blue","parts":["x"]}}'
spec: {paint: blue, parts: [x], size: {count: 3}}
status: {count: 3}
`

func TestMakePlan(t *testing.T) {
	for _, tc := range []struct {
		name      string
		ask       Ask
		object    string
		live      string
		operation cel.Operation
		patch     string
		after     string
	}{
		{name: "create sets defaults and drops status and unknown fields",
			object: "metadata: {name: a}\nspec: {weight: 3}\nstatus: {count: 9}", operation: cel.Create,
			after: "metadata: {name: a}\nspec: {paint: red}"},
		{name: "apply keeps what the file does not say", live: live, operation: cel.Update,
			object: "metadata: {name: a}\nspec: {paint: green, parts: [x]}\nstatus: {count: 9}",
			patch:  `{"metadata":{"resourceVersion":"7"},"spec":{"paint":"green"}}`,
			after: `metadata: {name: a, uid: u1, resourceVersion: "7", labels: {team: blue}, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"paint":"blue","parts":["x"]}}'}}
spec: {paint: green, parts: [x], size: {count: 3}}
status: {count: 3}`},
		{name: "apply removes what the last apply said", live: live, operation: cel.Update,
			object: "metadata: {name: a}\nspec: {paint: blue}",
			patch:  `{"metadata":{"resourceVersion":"7"},"spec":{"parts":null}}`,
			after: `metadata: {name: a, uid: u1, resourceVersion: "7", labels: {team: blue}, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"paint":"blue","parts":["x"]}}'}}
spec: {paint: blue, size: {count: 3}}
status: {count: 3}`},
		{name: "replace sends the object whole", live: live, operation: cel.Update, ask: Ask{Replace: true},
			object: "metadata: {name: a, uid: mine}\nspec: {parts: [y]}\nstatus: {count: 9}",
			after:  "metadata: {name: a, uid: u1, resourceVersion: \"7\"}\nspec: {paint: red, parts: [y]}\nstatus: {count: 3}"},
		{name: "status leaves the rest alone", live: live, operation: cel.Update, ask: Ask{Subresource: cel.Status},
			object: "metadata: {name: a, labels: {team: red}}\nspec: {paint: green}\nstatus: {colour: green}",
			patch:  `{"metadata":{"resourceVersion":"7"},"status":{"colour":"green"}}`,
			after: `metadata: {name: a, uid: u1, resourceVersion: "7", labels: {team: blue}, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"paint":"blue","parts":["x"]}}'}}
spec: {paint: blue, parts: [x], size: {count: 3}}
status: {count: 3, colour: green}`},
		{name: "scale sets the size where the kind keeps it", live: live, operation: cel.Update, ask: Ask{Subresource: cel.Scale, Replicas: ptr.To[int32](5)},
			object: "metadata: {name: a}",
			patch:  `{"metadata":{"resourceVersion":"7"},"spec":{"replicas":5}}`,
			after: `metadata: {name: a, uid: u1, resourceVersion: "7", labels: {team: blue}, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"paint":"blue","parts":["x"]}}'}}
spec: {paint: blue, parts: [x], size: {count: 5}}
status: {count: 3}`},
		{name: "scale of what is not there goes to the server all the same", operation: cel.Update, ask: Ask{Subresource: cel.Scale, Replicas: ptr.To[int32](0)},
			object: "metadata: {name: a}", patch: `{"spec":{"replicas":0}}`},
		{name: "delete", live: live, operation: cel.Delete, ask: Ask{Delete: true}, object: "metadata: {name: a}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.ask.Object = object(t, tc.object)
			before := object(t, tc.live)
			plan, err := MakePlan(tc.ask, object(t, tc.live), widgetShape(t))
			if err != nil {
				t.Fatal(err)
			}
			if plan.Attempt.Operation != tc.operation || string(plan.Attempt.Patch) != tc.patch {
				t.Errorf("got %s with patch %s\nwant %s with patch %s", plan.Attempt.Operation, plan.Attempt.Patch, tc.operation, tc.patch)
			}
			if want := object(t, tc.after); want == nil != (plan.New == nil) || want != nil && !reflect.DeepEqual(plan.New, want.Object) {
				t.Errorf("after:\ngot  %v\nwant %v", plan.New, want)
			}
			if before != nil && !reflect.DeepEqual(plan.Old, before.Object) {
				t.Errorf("the live object was changed: %v", plan.Old)
			}
		})
	}
}

func TestReplaceKeepsTheVersionOfTheFile(t *testing.T) {
	ask := Ask{Replace: true, Object: object(t, "metadata: {name: a, resourceVersion: \"3\"}")}
	plan, err := MakePlan(ask, object(t, live), widgetShape(t))
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Attempt.Replace.GetResourceVersion(); got != "3" {
		t.Errorf("version %q is sent, want the file's", got)
	}
}

func TestAskValidate(t *testing.T) {
	three, less := ptr.To[int32](3), ptr.To[int32](-1)
	for _, tc := range []struct {
		ask  Ask
		want string
	}{
		{Ask{}, ""},
		{Ask{Delete: true}, ""},
		{Ask{Subresource: cel.Scale, Replicas: three}, ""},
		{Ask{Subresource: "exec"}, `contradictory question: subresource "exec": want status or scale`},
		{Ask{Subresource: cel.Scale}, "contradictory question: subresource scale needs a number of replicas"},
		{Ask{Replicas: three}, "contradictory question: a number of replicas needs the subresource scale"},
		{Ask{Subresource: cel.Scale, Replicas: less}, "contradictory question: a number of replicas is not negative"},
		{Ask{Delete: true, Subresource: cel.Status}, "contradictory question: a delete has no subresource and replaces nothing"},
		{Ask{Replace: true, Subresource: cel.Status}, "contradictory question: only the object itself is replaced"},
	} {
		err := tc.ask.Validate()
		if got := text(err); got != tc.want || err != nil && !errors.Is(err, ErrAsk) {
			t.Errorf("%+v: got %q, want %q", tc.ask, got, tc.want)
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
