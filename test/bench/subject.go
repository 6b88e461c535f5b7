package main

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

// compared are the rules that every side judges by: scaling either way, and the
// removal of bootstrap members.
var compared = []string{"scale-out-blocked", "scale-in-blocked", "bootstrap-removal-blocked"}

// etcd is busy scaling in; the request asks for fewer replicas still, which all
// rules look at and allow.
const etcd = `
apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata: {name: main, namespace: default, generation: 4}
spec:
  replicas: 3
  etcd:
    bootstrapWithExistingCluster:
      clientEndpoints: ["https://source.example.com:2379"]
      members:
      - {name: src-0, peerURLs: ["https://src-0.example.com:2380"]}
      - {name: src-1, peerURLs: ["https://src-1.example.com:2380"]}
status:
  replicas: 3
  conditions:
  - {type: Ready, status: "True", reason: Quorate, message: ok, lastTransitionTime: "2026-01-01T00:00:00Z"}
  - {type: ScaleOperationInProgress, status: "True", reason: ScalingIn, message: ok, lastTransitionTime: "2026-01-01T00:00:00Z"}
`

// subject is what all sides judge, and by what.
type subject struct {
	catalogue *cel.Catalogue
	crd       *apiextensionsv1.CustomResourceDefinition
	request   *cel.Request
}

func newSubject() (*subject, error) {
	all, err := cel.Load(rules.FS, ".")
	if err != nil {
		return nil, err
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, err
	}
	s := &subject{catalogue: &cel.Catalogue{Group: v1alpha1.Group}}
	for _, r := range all.Rules {
		for _, id := range compared {
			if r.ID == id {
				s.catalogue.Rules = append(s.catalogue.Rules, r)
			}
		}
	}
	for _, crd := range crds {
		if crd.Spec.Names.Kind == "Etcd" {
			injected, err := cel.Inject(s.catalogue, []*apiextensionsv1.CustomResourceDefinition{crd})
			if err != nil {
				return nil, err
			}
			s.crd = injected[0]
		}
	}
	before, err := object(3)
	if err != nil {
		return nil, err
	}
	after, err := object(2)
	if err != nil {
		return nil, err
	}
	s.request = &cel.Request{Operation: cel.Update, Resource: "etcds", Namespace: "default", Name: "main", Object: after, OldObject: before}
	return s, nil
}

func object(replicas int64) (map[string]any, error) {
	var o map[string]any
	if err := yaml.Unmarshal([]byte(etcd), &o); err != nil {
		return nil, fmt.Errorf("read the object: %w", err)
	}
	spec, ok := o["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read the object: no spec")
	}
	spec["replicas"] = replicas
	status, ok := o["status"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read the object: no status")
	}
	status["replicas"] = int64(3)
	metadata, ok := o["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("read the object: no metadata")
	}
	metadata["generation"] = int64(4)
	return o, nil
}
