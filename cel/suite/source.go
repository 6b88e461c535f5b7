package suite

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/quorate/quorate/cel"
)

// source finds the place of a field in a case file: in the case itself, else in
// the file's defaults.
type source struct {
	file           string
	own, defaulted *yaml.Node
}

func parseNode(data []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil || len(doc.Content) == 0 {
		return &yaml.Node{}
	}
	return doc.Content[0]
}

// at gives the place of the deepest part of the path that the file spells out.
func (s source) at(path ...string) Position {
	node, depth := descend(s.own, path)
	if other, deeper := descend(s.defaulted, path); deeper > depth {
		node = other
	}
	return s.position(node)
}

func (s source) position(node *yaml.Node) Position {
	if node == nil {
		return Position{File: s.file}
	}
	return Position{File: s.file, Line: node.Line, Column: node.Column}
}

func (s source) errorf(at Position, format string, args ...any) error {
	return &cel.SourceError{File: at.File, Line: at.Line, Column: at.Column, Problem: fmt.Sprintf(format, args...)}
}

// descend follows the path as far as it goes. It gives the last key (or list
// item) that it found, and how many steps that took.
func descend(node *yaml.Node, path []string) (*yaml.Node, int) {
	found := node
	for depth, step := range path {
		key, value := child(node, step)
		if value == nil {
			return found, depth
		}
		found, node = key, value
	}
	return found, len(path)
}

func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node == nil {
		return nil, nil
	}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(node.Content) {
			return node.Content[i], node.Content[i]
		}
	}
	return nil, nil
}

// splitPath turns spec.tags[1].name into its steps.
func splitPath(path string) []string {
	path = strings.NewReplacer("[", ".", "]", "").Replace(path)
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' })
}

// positionOf gives an error's place, where it has one, and its text without it.
func positionOf(err error, fallback Position) (Position, string) {
	var source *cel.SourceError
	if !errors.As(err, &source) {
		return fallback, err.Error()
	}
	return Position{File: source.File, Line: source.Line, Column: source.Column}, source.Problem
}
