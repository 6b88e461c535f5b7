package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
)

// Policy is a folder's policy.yaml.
type Policy struct {
	Version string `json:"version"`
	// Group is the API group of the rules' resources.
	Group string `json:"group"`
	// CRDs are globs, relative to the folder.
	CRDs []string `json:"crds"`
	// Controller is the user name of the rules' own controller.
	Controller string       `json:"controller"`
	Equivalent []Equivalent `json:"equivalent"`
}

// Equivalent is a mutant that a person has proved to change nothing.
type Equivalent struct {
	Rule   string `json:"rule"`
	Mutant string `json:"mutant"`
	Proof  string `json:"proof"`
}

// policyVersion is the only version of policy.yaml so far.
const policyVersion = "v1"

var defaultCRDs = []string{"crds/*.yaml"}

// ErrNoCRDs says that no file matches a folder's CRD globs.
var ErrNoCRDs = errors.New("no CRD matches")

// ReadPolicy reads a folder's policy.yaml; a folder without one has the defaults.
func ReadPolicy(fsys fs.FS, dir string) (Policy, error) {
	policy, _, err := readPolicy(fsys, dir)
	return policy, err
}

// readPolicy reads policy.yaml; a folder without one has the defaults.
func readPolicy(fsys fs.FS, dir string) (Policy, source, error) {
	name := path.Join(dir, cel.PolicyFile)
	policy := Policy{CRDs: defaultCRDs}
	src := source{file: name}
	data, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return policy, src, nil
	}
	if err != nil {
		return policy, src, fmt.Errorf("read policy file: %w", err)
	}
	policy.CRDs = nil
	if err := cel.DecodeStrict(name, data, &policy); err != nil {
		return policy, src, err
	}
	src.own = parseNode(data)
	if policy.CRDs == nil {
		policy.CRDs = defaultCRDs
	}
	if policy.Version != "" && policy.Version != policyVersion {
		return policy, src, src.errorf(src.at("version"), "version: %q is unknown; want %s", policy.Version, policyVersion)
	}
	return policy, src, nil
}

// ReadCRDs reads every CRD that the globs match, sorted by name. Other kinds in
// the same files are passed over.
func ReadCRDs(fsys fs.FS, dir string, globs []string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, glob := range globs {
		files, err := globFiles(fsys, dir, glob)
		if err != nil {
			return nil, fmt.Errorf("find CRDs: %w", err)
		}
		for _, file := range files {
			found, err := readCRDFile(fsys, file)
			if err != nil {
				return nil, err
			}
			crds = append(crds, found...)
		}
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("%w %v from %s", ErrNoCRDs, globs, dir)
	}
	slices.SortFunc(crds, func(a, b *apiextensionsv1.CustomResourceDefinition) int { return compareText(a.Name, b.Name) })
	return crds, nil
}

func globFiles(fsys fs.FS, dir, glob string) ([]string, error) {
	if path.IsAbs(glob) {
		return fs.Glob(fsys, glob)
	}
	return fs.Glob(fsys, path.Join(dir, glob))
}

func readCRDFile(fsys fs.FS, file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("read CRD: %w", err)
	}
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, doc := range documents(data) {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(doc, &crd); err != nil {
			return nil, fmt.Errorf("read CRD %s: %w", file, err)
		}
		if crd.Kind == "CustomResourceDefinition" {
			crds = append(crds, &crd)
		}
	}
	return crds, nil
}
