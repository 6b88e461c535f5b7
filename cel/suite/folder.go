package suite

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/quorate/quorate/cel"
)

const caseSuffix = "_test.yaml"

// Folder is a folder of rules with all that judging them needs.
type Folder struct {
	Dir       string
	Policy    Policy
	Catalogue *cel.Catalogue
	// CRDs carry the folder's rules, whatever the files on disk carry.
	CRDs  []*apiextensionsv1.CustomResourceDefinition
	Files []*File
	// Problems are case files that cannot be used; the others can.
	Problems []Problem

	kinds  map[string]*kind
	source source // of policy.yaml
}

// LoadFolder reads a folder's rules, CRDs and cases. An error means that nothing
// of the folder can be judged.
func LoadFolder(fsys fs.FS, dir string) (*Folder, error) {
	return LoadFolderWith(fsys, dir, nil)
}

// LoadFolderWith is LoadFolder with CRDs from elsewhere; nil means those that
// policy.yaml names.
func LoadFolderWith(fsys fs.FS, dir string, crds []*apiextensionsv1.CustomResourceDefinition) (*Folder, error) {
	f := &Folder{Dir: dir}
	var err error
	if f.Policy, f.source, err = readPolicy(fsys, dir); err != nil {
		return nil, err
	}
	if f.Catalogue, err = cel.Load(fsys, dir); err != nil {
		return nil, err
	}
	if err := f.Catalogue.Validate(); err != nil {
		return nil, err
	}
	if crds == nil {
		if crds, err = ReadCRDs(fsys, dir, f.Policy.CRDs); err != nil {
			return nil, err
		}
	}
	if f.CRDs, err = cel.Inject(f.Catalogue, crds); err != nil {
		return nil, err
	}
	if f.kinds, err = kindsOf(f.Catalogue.Group, f.CRDs); err != nil {
		return nil, err
	}
	return f, f.loadCases(fsys)
}

func (f *Folder) loadCases(fsys fs.FS) error {
	names, err := fs.Glob(fsys, path.Join(f.Dir, "*"+caseSuffix))
	if err != nil {
		return fmt.Errorf("find case files: %w", err)
	}
	slices.Sort(names)
	for _, name := range names {
		file, err := ReadFile(fsys, name)
		if err != nil {
			f.report(name, err)
			continue
		}
		if _, ok := f.Catalogue.Rule(file.Rule); !ok {
			f.Problems = append(f.Problems, Problem{At: file.At, Kind: KindUnknownRule, Rule: file.Rule,
				Message: fmt.Sprintf("rule: the folder has no rule %q", file.Rule)})
			continue
		}
		f.Files = append(f.Files, file)
	}
	return nil
}

func (f *Folder) report(file string, err error) {
	for _, one := range flatten(err) {
		at, message := positionOf(one, Position{File: file})
		f.Problems = append(f.Problems, Problem{At: at, Kind: KindFile, Message: message})
	}
}

// kind gives what is known of a rule's resource.
func (f *Folder) kind(resource string) (*kind, error) {
	k, ok := f.kinds[resource]
	if !ok {
		return nil, fmt.Errorf("%w: %s.%s", ErrNoSchema, resource, f.Catalogue.Group)
	}
	return k, nil
}

// flatten lists the errors that were joined.
func flatten(err error) []error {
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var out []error
	for _, e := range many.Unwrap() {
		out = append(out, flatten(e)...)
	}
	return out
}

func documents(data []byte) [][]byte {
	return bytes.Split(append([]byte("\n"), data...), []byte("\n---"))
}

func compareText(a, b string) int { return cmp.Compare(a, b) }

func caseFileOf(ruleFile string) string { return strings.TrimSuffix(ruleFile, ".yaml") + caseSuffix }
