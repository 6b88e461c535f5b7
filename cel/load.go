package cel

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// DefaultGroup is the API group of a folder whose policy.yaml names none.
const DefaultGroup = "quorate.dev"

// PolicyFile is the settings file of a rule folder. Load takes the field group
// from it; the rest belongs to the policy suite.
const PolicyFile = "policy.yaml"

const (
	ruleSuffix = ".yaml"
	caseSuffix = "_test.yaml"
)

// ErrNoRules says that a folder holds no rule file: nothing would be refused.
var ErrNoRules = errors.New("no rule files")

// Load reads the rule files of a folder: *.yaml, except the cases (*_test.yaml)
// and policy.yaml. Parsing is strict. Problems are joined, one *SourceError with
// file, line and column each. The catalogue is not validated yet.
func Load(fsys fs.FS, dir string) (*Catalogue, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		return nil, fmt.Errorf("list rule folder %s: %w", dir, err)
	}
	group, err := loadGroup(fsys, path.Join(dir, PolicyFile))
	problems := []error{err}
	catalogue := &Catalogue{Group: group}
	for _, entry := range entries {
		if entry.IsDir() || !isRuleFile(entry.Name()) {
			continue
		}
		rule, err := loadRule(fsys, path.Join(dir, entry.Name()))
		problems = append(problems, err)
		if err == nil {
			catalogue.Rules = append(catalogue.Rules, rule)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	if len(catalogue.Rules) == 0 {
		return nil, fmt.Errorf("load rules from %s: %w", dir, ErrNoRules)
	}
	catalogue.sort()
	return catalogue, nil
}

func isRuleFile(name string) bool {
	return strings.HasSuffix(name, ruleSuffix) && !strings.HasSuffix(name, caseSuffix) && name != PolicyFile
}

func loadRule(fsys fs.FS, file string) (*Rule, error) {
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, fmt.Errorf("read rule file: %w", err)
	}
	rule := &Rule{File: file}
	return rule, DecodeStrict(file, data, rule)
}

func loadGroup(fsys fs.FS, file string) (string, error) {
	data, err := fs.ReadFile(fsys, file)
	if errors.Is(err, fs.ErrNotExist) {
		return DefaultGroup, nil
	}
	if err != nil {
		return "", fmt.Errorf("read policy file: %w", err)
	}
	var settings map[string]any
	if err := DecodeStrict(file, data, &settings); err != nil {
		return "", err
	}
	group, isText := settings["group"].(string)
	switch {
	case settings["group"] == nil:
		return DefaultGroup, nil
	case !isText || group == "":
		return "", &SourceError{File: file, Problem: "group: want an API group's name"}
	}
	return group, nil
}
