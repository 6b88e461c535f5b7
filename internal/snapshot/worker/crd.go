package worker

import (
	"encoding/json"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/quorate/quorate/internal/snapshot"
)

const (
	crdFolder = "/apiextensions.k8s.io/customresourcedefinitions/"
	crdGroup  = ".quorate.dev"
)

// crdOf is the CustomResourceDefinition of ours that a key holds. The API server writes
// them in JSON, as v1 or v1beta1, whose versions are the same.
func crdOf(b *bolt.Bucket, name string, revision []byte) (snapshot.CRD, bool) {
	_, object, found := strings.Cut(name, crdFolder)
	if !found || !strings.HasSuffix(object, crdGroup) || strings.Contains(object, "/") {
		return snapshot.CRD{}, false
	}
	crd := snapshot.CRD{Name: object}
	value, err := fieldsOf(b.Get(revision))
	if err != nil {
		return crd, true
	}
	var o struct {
		Spec struct {
			Versions []struct {
				Name   string `json:"name"`
				Served bool   `json:"served"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(value.value, &o); err != nil {
		return crd, true
	}
	for _, v := range o.Spec.Versions {
		if v.Served {
			crd.Versions = append(crd.Versions, v.Name)
		}
	}
	return crd, true
}
