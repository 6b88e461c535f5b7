// Package manifests embeds what is installed into a cluster and is also read by
// the programs themselves, so that both are of one version.
package manifests

import (
	"embed"
	"fmt"
	"io/fs"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// CRDs holds the generated CustomResourceDefinitions, rules included, as
// crd/quorate.dev_<plural>.yaml.
//
//go:embed crd/quorate.dev_*.yaml
var CRDs embed.FS

// LoadCRDs decodes the embedded CRDs, sorted by file name. Each call returns
// new objects. An unknown field in a file is an error.
func LoadCRDs() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	return loadCRDs(CRDs, "crd")
}

func loadCRDs(fsys fs.FS, dir string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	files, err := fs.Glob(fsys, dir+"/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list CRD files in %s: %w", dir, err)
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, 0, len(files))
	for _, file := range files {
		data, err := fs.ReadFile(fsys, file)
		if err != nil {
			return nil, fmt.Errorf("read CRD file %s: %w", file, err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("decode CRD file %s: %w", file, err)
		}
		crds = append(crds, crd)
	}
	return crds, nil
}
