package manifests

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

// unbounded lists what in a schema has no limit or no explanation. The API
// server cannot bound a rule's cost over a list or text without a limit, and
// refuses the CRD.
func unbounded(path string, s *schema) []string {
	found := missing(path, s)
	for name, p := range s.Properties {
		if p.Description == "" {
			found = append(found, path+"."+name+": no description")
		}
		found = append(found, unbounded(path+"."+name, &p)...)
	}
	if s.Items != nil {
		found = append(found, unbounded(path+"[]", s.Items.Schema)...)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		found = append(found, unbounded(path+"{}", s.AdditionalProperties.Schema)...)
	}
	slices.Sort(found)
	return found
}

func missing(path string, s *schema) []string {
	var found []string
	miss := func(bad bool, what string) {
		if bad {
			found = append(found, path+": "+what)
		}
	}
	text := s.Type == "string" || s.XIntOrString
	miss(text && s.MaxLength == nil && len(s.Enum) == 0 && s.Format != "date-time", "no maxLength")
	miss(s.Type == "array" && s.MaxItems == nil, "no maxItems")
	miss(s.Type == "array" && s.XListType == nil, "no list type")
	miss(s.Type == "integer" && s.Minimum == nil, "no minimum")
	miss(s.Type == "object" && s.AdditionalProperties != nil && s.MaxProperties == nil, "no maxProperties")
	miss(s.XPreserveUnknownFields != nil, "keeps unknown fields")
	return found
}

// bounded is spec and status: apiVersion, kind and metadata are the API server's.
func bounded(crd *apiextensionsv1.CustomResourceDefinition) []string {
	var found []string
	for _, v := range crd.Spec.Versions {
		for _, part := range []string{"spec", "status"} {
			s := v.Schema.OpenAPIV3Schema.Properties[part]
			found = append(found, unbounded(crd.Spec.Names.Kind+"."+part, &s)...)
		}
	}
	return found
}

func TestEverythingInTheCRDsHasALimit(t *testing.T) {
	for _, crd := range mustLoad(t) {
		for _, f := range bounded(crd) {
			t.Error(f)
		}
	}
}

func TestAMissingLimitIsFound(t *testing.T) {
	for _, c := range []struct {
		path  string
		plant func(*schema)
		want  string
	}{
		{"spec.etcd.version", func(s *schema) { s.MaxLength = nil }, "Etcd.spec.etcd.version: no maxLength"},
		{"spec.storage.size", func(s *schema) { s.MaxLength = nil }, "Etcd.spec.storage.size: no maxLength"},
		{"spec.pod.labels", func(s *schema) { s.MaxProperties = nil }, "Etcd.spec.pod.labels: no maxProperties"},
		{"spec.pod.labels", func(s *schema) { s.AdditionalProperties.Schema.MaxLength = nil }, "Etcd.spec.pod.labels{}: no maxLength"},
		{"status.members", func(s *schema) { s.MaxItems = nil }, "Etcd.status.members: no maxItems"},
		{"status.members", func(s *schema) { s.XListType = nil }, "Etcd.status.members: no list type"},
		{"spec.pod.imagePullSecrets", func(s *schema) { s.Items.Schema.XPreserveUnknownFields = new(true) }, "Etcd.spec.pod.imagePullSecrets[]: keeps unknown fields"},
		{"spec.replicas", func(s *schema) { s.Minimum = nil }, "Etcd.spec.replicas: no minimum"},
		{"spec.pod", func(s *schema) { s.Description = "" }, "Etcd.spec.pod: no description"},
	} {
		t.Run(c.want, func(t *testing.T) {
			crd := byKind(t, "Etcd")
			edit(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, strings.Split(c.path, "."), c.plant)
			if got := bounded(crd); !slices.Equal(got, []string{c.want}) {
				t.Errorf("found %q, want only %q", got, c.want)
			}
		})
	}
}

// edit changes the node at a path of properties.
func edit(s *schema, path []string, change func(*schema)) {
	if len(path) == 0 {
		change(s)
		return
	}
	node := s.Properties[path[0]]
	edit(&node, path[1:], change)
	s.Properties[path[0]] = node
}
