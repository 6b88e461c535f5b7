package cel

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// widgetCRD is a resource with each kind of schema node that rules treat apart.
const widgetCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-validations:
        - rule: "!has(self.spec) || !has(self.spec.size) || self.spec.size != 13"
          message: thirteen is not ours to allow
        properties:
          metadata: {type: object}
          spec:
            type: object
            properties:
              size: {type: integer}
              name: {type: string, maxLength: 64}
              port: {x-kubernetes-int-or-string: true}
              parts:
                type: array
                maxItems: 32
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string, maxLength: 64}
                    size: {type: integer}
              notes: {type: object, maxProperties: 8, additionalProperties: {type: string, maxLength: 8}}
              blob: {x-kubernetes-preserve-unknown-fields: true}
              inner:
                type: object
                properties:
                  value: {type: integer}
          status:
            type: object
            properties:
              phase: {type: string, maxLength: 64}
`

func newWidgetCRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(widgetCRD), crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// newWidget reads the rest of a widget from YAML; no text is no widget.
func newWidget(t testing.TB, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	widget := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &widget); err != nil {
		t.Fatal(err)
	}
	integers(widget)
	widget["apiVersion"], widget["kind"] = "example.com/v1", "Widget"
	widget["metadata"] = map[string]any{"name": "w", "namespace": "ns"}
	return widget
}

// integers makes whole numbers what the API server's decoder makes of them.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = integers(v[key])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	}
	return v
}

// widgetRule is a rule of all three layers, to be changed by a test.
func widgetRule(id, path, expression string) *Rule {
	field := map[string]string{"": ".spec", "spec": ".size", "spec.inner": ".value", "status": ".phase"}[path]
	return &Rule{
		ID: id, Doc: "Refuses.", Resource: "widgets", Path: path, Expression: expression,
		Message: "Refused by " + id + ". Do otherwise. (" + id + ")",
		Reason:  "FieldValueForbidden", FieldPath: field,
		Layers: []Layer{LayerCRD, LayerWebhook, LayerVAP}, Binds: BindsEveryone,
	}
}

// gate turns a rule into one without the CRD layer.
func gate(r *Rule, operations ...Operation) *Rule {
	r.Layers, r.Operations = []Layer{LayerWebhook, LayerVAP}, operations
	return r
}

func widgetRules(rules ...*Rule) *Catalogue {
	c := &Catalogue{Group: "example.com", Rules: rules}
	c.sort()
	return c
}
