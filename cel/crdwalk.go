package cel

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
)

// nodeVisitor is told of each place that has rules and a value.
type nodeVisitor interface {
	// visit judges the rules of a node; false ends the walk.
	visit(w *crdWalk, n *crdNode, self, oldSelf any) bool
}

// crdWalk carries a pair of objects through a tree, in the stock validator's
// order; where that follows Go's map order, names are sorted instead. The path
// that is gone so far becomes a field path, and a ratcheting decision, only for a
// finding.
type crdWalk struct {
	tree     *crdTree
	new, old any
	visitor  nodeVisitor
	path     []crdStep
	start    [8]crdStep // room for the usual depth
}

type crdStep struct {
	kind  stepKind
	name  string
	index int
}

type stepKind uint8

const (
	stepField stepKind = iota
	stepKey
	stepItem
	stepAllOf
)

// run walks; old is nil on CREATE.
func (w *crdWalk) run() {
	w.path = w.start[:0]
	if w.tree.root != nil {
		w.node(w.tree.root, w.new, w.old)
	}
}

// node judges a value and all below it. Rules see no null: whoever needs to tell
// null or absence does it from the place above.
func (w *crdWalk) node(n *crdNode, self, oldSelf any) bool {
	if self == nil {
		return true
	}
	if len(w.tree.rules[n.index]) > 0 && !w.visitor.visit(w, n, self, valueOrNil(oldSelf)) {
		return false
	}
	for _, child := range n.allOf {
		if !w.step(crdStep{kind: stepAllOf}, child, self, oldSelf) {
			return false
		}
	}
	switch value := self.(type) {
	case []any:
		old, _ := oldSelf.([]any)
		return w.list(n, value, old)
	case map[string]any:
		old, _ := oldSelf.(map[string]any)
		return w.object(n, value, old)
	}
	return true
}

func (w *crdWalk) step(s crdStep, n *crdNode, self, oldSelf any) bool {
	w.path = append(w.path, s)
	goesOn := w.node(n, self, oldSelf)
	w.path = w.path[:len(w.path)-1]
	return goesOn
}

// list: only a list that is a map by keys tells which old item is meant.
func (w *crdWalk) list(n *crdNode, self, oldSelf []any) bool {
	if n.items == nil {
		return true
	}
	old := common.MakeMapList(n.values, oldSelf)
	for i, item := range self {
		if !w.step(crdStep{kind: stepItem, index: i}, n.items, item, old.Get(item)) {
			return false
		}
	}
	return true
}

func (w *crdWalk) object(n *crdNode, self, oldSelf map[string]any) bool {
	if !n.correlatable {
		oldSelf = nil
	}
	if n.additional != nil {
		for _, key := range slices.Sorted(maps.Keys(self)) {
			if !w.step(crdStep{kind: stepKey, name: key}, n.additional, self[key], oldSelf[key]) {
				return false
			}
		}
	}
	for _, p := range n.properties {
		if value := self[p.name]; value != nil && !w.step(crdStep{kind: stepField, name: p.name}, p.node, value, oldSelf[p.name]) {
			return false
		}
	}
	return true
}

// valueOrNil takes a typed nil for what it is: no value.
func valueOrNil(v any) any {
	switch value := v.(type) {
	case map[string]any:
		if value == nil {
			return nil
		}
	case []any:
		if value == nil {
			return nil
		}
	}
	return v
}

// fieldPath is nil at the root, as the API server has it.
func (w *crdWalk) fieldPath() *field.Path {
	var p *field.Path
	for _, s := range w.path {
		switch s.kind {
		case stepField:
			p = p.Child(s.name)
		case stepKey:
			p = p.Key(s.name)
		case stepItem:
			p = p.Index(s.index)
		}
	}
	return p
}

// unchanged reports whether a denial by a static rule here is ratcheted: the
// place, or the nearest place above that has an old counterpart, equals it.
func (w *crdWalk) unchanged() bool {
	if valueOrNil(w.old) == nil {
		return false
	}
	current, parent := common.NewCorrelatedObject(w.new, w.old, w.tree.schema), (*common.CorrelatedObject)(nil)
	for _, s := range w.path {
		switch {
		case s.kind == stepAllOf:
			current = nil
		case current == nil:
		case parent == nil && (s.name == "apiVersion" || s.name == "kind"):
			// Not ratcheted: conversion may have changed them already.
			current = nil
		case s.kind == stepItem:
			current, parent = current.Index(s.index), current
		default:
			current, parent = current.Key(s.name), current
		}
	}
	if current != nil {
		return current.CachedDeepEqual()
	}
	return parent.CachedDeepEqual()
}
