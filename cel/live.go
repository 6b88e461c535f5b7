package cel

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/google/cel-go/common/types"
)

// LiveTarget is what must be read before a request is judged: an object of the
// catalogue's API group in a namespace, or with an empty name all of them.
type LiveTarget struct {
	Resource, Namespace, Name string
}

// ErrNoName says that a live read's name expression gives no name, which would
// read as a wish for the whole list.
var ErrNoName = errors.New("the expression gives no name")

// LiveReads gives what the rules that are judged on the request read, by live
// variable. A name that cannot be told is an error: the rule must not be judged
// on a world that it has not seen.
func (e *Engine) LiveReads(r *Request) (targets map[string]LiveTarget, err error) {
	rules, ok := e.resources[r.Resource]
	if !ok || !rules.reads(r) {
		return nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			targets, err = nil, fmt.Errorf("tell what to read live: the engine failed: %v", p)
		}
	}()
	if err := r.complete(); err != nil {
		return nil, err
	}
	version, err := rules.version(r)
	if err != nil {
		return nil, err
	}
	vars := rules.vars(r, version)
	targets = map[string]LiveTarget{}
	for _, g := range rules.gates {
		if !g.applies(r, false) {
			continue
		}
		for _, read := range g.reads {
			if _, known := targets[read.variable]; known {
				continue
			}
			if targets[read.variable], err = read.target(vars.at(g.path)); err != nil {
				return nil, fmt.Errorf("rule %s: tell what live.%s is: %w", g.rule.ID, read.variable, err)
			}
		}
	}
	return targets, nil
}

func (rules *resourceRules) reads(r *Request) bool {
	for _, g := range rules.gates {
		if len(g.reads) > 0 && g.applies(r, false) {
			return true
		}
	}
	return false
}

func (read gateRead) target(a *gateActivation) (LiveTarget, error) {
	target := LiveTarget{Resource: read.resource, Namespace: a.request.Namespace}
	if read.program == nil {
		return target, nil
	}
	result, cost, err := evaluate(context.Background(), read.program, a)
	if err != nil {
		return target, err
	}
	if cost == math.MaxUint64 {
		return target, errors.New(outOfBudget)
	}
	name, ok := result.(types.String)
	if !ok || name == "" {
		return target, fmt.Errorf("%w: %v", ErrNoName, result.Value())
	}
	target.Name = string(name)
	return target, nil
}
