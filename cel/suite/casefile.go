package suite

import (
	"errors"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/quorate/quorate/cel"
)

// DefaultUser makes the requests of cases that name no user.
var DefaultUser = authenticationv1.UserInfo{Username: "alice@example.com", Groups: []string{"system:authenticated"}}

// caseForm is a case as it is written; it serves the strict check of names and
// types. The values are read a second time, as maps, so that null and absent
// stay apart.
type caseForm struct {
	Name        string          `json:"name"`
	Doc         string          `json:"doc"`
	Old         *map[string]any `json:"old"`
	New         *map[string]any `json:"new"`
	Patch       *map[string]any `json:"patch"`
	Operation   string          `json:"operation"`
	Subresource string          `json:"subresource"`
	User        *userForm       `json:"user"`
	Controller  bool            `json:"controller"`
	DryRun      bool            `json:"dryRun"`
	Raw         bool            `json:"raw"`
	Live        *map[string]any `json:"live"`
	Allow       []Grant         `json:"allow"`
	Expect      any             `json:"expect"`
	Message     string          `json:"message"`
	Warnings    []string        `json:"warnings"`
	Fires       *bool           `json:"fires"`
}

type userForm struct {
	Name   string              `json:"name"`
	Groups []string            `json:"groups"`
	UID    string              `json:"uid"`
	Extra  map[string][]string `json:"extra"`
}

type fileForm struct {
	Rule     string     `json:"rule"`
	Defaults *caseForm  `json:"defaults"`
	Cases    []caseForm `json:"cases"`
}

// looseFile is the second reading of the file.
type looseFile struct {
	Rule     string           `json:"rule"`
	Defaults map[string]any   `json:"defaults"`
	Cases    []map[string]any `json:"cases"`
}

// ReadFile reads a case file. Problems are joined, each a *cel.SourceError.
func ReadFile(fsys fs.FS, name string) (*File, error) {
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("read case file: %w", err)
	}
	return parseFile(name, data)
}

func parseFile(name string, data []byte) (*File, error) {
	var form fileForm
	if err := cel.DecodeStrict(name, data, &form); err != nil {
		return nil, err
	}
	var loose looseFile
	if err := cel.DecodeStrict(name, data, &loose); err != nil {
		return nil, err
	}
	root := parseNode(data)
	whole := source{file: name, own: root}
	file := &File{Path: name, Rule: form.Rule, At: whole.at("rule")}
	if err := checkFile(form, whole); err != nil {
		return nil, err
	}
	defaults := defaultsNode(whole)
	_, list := child(root, "cases")
	var problems []error
	for i := range form.Cases {
		src := source{file: name, own: list.Content[i], defaulted: defaults}
		c, err := buildCase(form.Cases[i], loose.Defaults, loose.Cases[i], src, form.Rule)
		file.Cases = append(file.Cases, c)
		problems = append(problems, err)
	}
	problems = append(problems, uniqueNames(file.Cases))
	return file, errors.Join(problems...)
}

func checkFile(form fileForm, src source) error {
	var problems []error
	if form.Rule == "" {
		problems = append(problems, src.errorf(src.at("rule"), "rule: the rule's ID is missing"))
	}
	if len(form.Cases) == 0 {
		problems = append(problems, src.errorf(src.at("cases"), "cases: the list is empty"))
	}
	if form.Defaults != nil {
		for _, field := range []string{"name", "doc", "fires"} {
			if _, value := child(defaultsNode(src), field); value != nil {
				problems = append(problems, src.errorf(src.at("defaults", field), "defaults.%s: belongs to a case", field))
			}
		}
	}
	return errors.Join(problems...)
}

func uniqueNames(cases []*Case) error {
	var problems []error
	seen := map[string]bool{}
	for _, c := range cases {
		if c.Name != "" && seen[c.Name] {
			problems = append(problems, c.source.errorf(c.source.at("name"), "name: %q is there twice", c.Name))
		}
		seen[c.Name] = true
	}
	return errors.Join(problems...)
}

func defaultsNode(src source) *yaml.Node {
	_, node := child(src.own, "defaults")
	return node
}
