package cel

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/interpreter"
)

// ErrUnknownRule says that the engine judges no rule of that ID.
var ErrUnknownRule = errors.New("unknown rule")

// WithRule gives an engine in which the rule of the same ID, which must be there,
// has another expression or message. Only that rule is compiled; all else is
// shared. Its resource, path, layers and binding stay those of the engine's rule.
func (e *Engine) WithRule(r *Rule) (*Engine, error) {
	resource, rules := e.resourceOf(r.ID)
	if rules == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownRule, r.ID)
	}
	changed, err := rules.withRule(r)
	if err != nil {
		return nil, err
	}
	out := *e
	out.resources = maps.Clone(e.resources)
	out.resources[resource] = changed
	return &out, nil
}

func (e *Engine) resourceOf(id string) (string, *resourceRules) {
	for resource, rules := range e.resources {
		if rules.gate(id) >= 0 {
			return resource, rules
		}
		for _, tree := range rules.trees {
			if n, _ := tree.find(id); n != nil {
				return resource, rules
			}
		}
	}
	return "", nil
}

func (rules *resourceRules) gate(id string) int {
	return slices.IndexFunc(rules.gates, func(g *gateRule) bool { return g.rule.ID == id })
}

func (rules *resourceRules) withRule(r *Rule) (*resourceRules, error) {
	out := *rules
	if i := rules.gate(r.ID); i >= 0 {
		gate, err := newGateRule(r)
		if err != nil {
			return nil, err
		}
		out.gates = slices.Clone(rules.gates)
		out.gates[i] = gate
		return &out, nil
	}
	out.trees = maps.Clone(rules.trees)
	for version, tree := range rules.trees {
		changed, err := tree.withRule(r)
		if err != nil {
			return nil, fmt.Errorf("version %s: %w", version, err)
		}
		out.trees[version] = changed
	}
	return &out, nil
}

func (t *crdTree) withRule(r *Rule) (*crdTree, error) {
	n, i := t.find(r.ID)
	if n == nil {
		return t, nil
	}
	rule, err := n.compiler.compileOne(validationOf(r))
	if err != nil {
		return nil, err
	}
	rule.id, rule.key = t.rules[n.index][i].id, r.ID
	out := *t
	out.rules = slices.Clone(t.rules)
	out.rules[n.index] = slices.Clone(t.rules[n.index])
	out.rules[n.index][i] = rule
	return &out, nil
}

// RuleEnv gives the environment that the rule's expression is compiled in; for a
// rule in several versions of a CRD, that of the storage version.
func (e *Engine) RuleEnv(id string) (*celgo.Env, error) {
	_, rules := e.resourceOf(id)
	if rules == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownRule, id)
	}
	if i := rules.gate(id); i >= 0 {
		env, _, err := rules.gates[i].rule.gateEnvs()
		return env, err
	}
	n, i, tree := rules.find(id)
	return n.compiler.env(tree.rules[n.index][i].optional)
}

// find prefers the storage version.
func (rules *resourceRules) find(id string) (*crdNode, int, *crdTree) {
	versions := append([]string{rules.storage}, slices.Sorted(maps.Keys(rules.trees))...)
	for _, version := range versions {
		if tree := rules.trees[version]; tree != nil {
			if n, i := tree.find(id); n != nil {
				return n, i, tree
			}
		}
	}
	return nil, -1, nil
}

// Activations gives the variables of each evaluation of a rule that the request
// leads to, in order: several for a rule on list items, none where the rule is
// not judged. A request whose objects are incomplete is an error.
func (e *Engine) Activations(id string, r *Request) ([]interpreter.Activation, error) {
	evaluations, err := e.evaluations(id, r)
	if err != nil {
		return nil, err
	}
	out := make([]interpreter.Activation, len(evaluations))
	for i, evaluation := range evaluations {
		out[i] = evaluation.vars
	}
	return out, nil
}

// evaluation is one run of a rule.
type evaluation struct {
	vars interpreter.Activation
	// field is the place of the node; empty at the root.
	field string
}

func (e *Engine) evaluations(id string, r *Request) ([]evaluation, error) {
	_, rules := e.resourceOf(id)
	if rules == nil {
		return nil, fmt.Errorf("%w: %s", ErrUnknownRule, id)
	}
	if rules != e.resources[r.Resource] {
		return nil, nil
	}
	if err := r.complete(); err != nil {
		return nil, err
	}
	version, err := rules.version(r)
	if err != nil {
		return nil, err
	}
	if i := rules.gate(id); i >= 0 {
		if !rules.gates[i].applies(r, false) {
			return nil, nil
		}
		return []evaluation{{rules.vars(r, version).at(rules.gates[i].path), rules.gates[i].rule.Path}}, nil
	}
	if r.Operation == Delete {
		return nil, nil
	}
	return rules.trees[version].evaluations(id, r), nil
}

// evaluations lists the runs of a CRD rule.
func (t *crdTree) evaluations(id string, r *Request) []evaluation {
	v := &evaluationVisitor{id: id}
	w := &crdWalk{tree: t, new: r.Object, visitor: v}
	if r.Operation == Update {
		w.old = r.OldObject
	}
	w.run()
	return v.found
}

type evaluationVisitor struct {
	id    string
	found []evaluation
}

func (v *evaluationVisitor) visit(w *crdWalk, n *crdNode, self, oldSelf any) bool {
	rules := w.tree.rules[n.index]
	for i := range rules {
		if rules[i].key == v.id && !rules[i].skips(oldSelf) {
			a := newCRDActivation(rules, n, self, oldSelf)
			v.found = append(v.found, evaluation{rules[i].vars(a), shown(w.fieldPath())})
		}
	}
	return true
}
