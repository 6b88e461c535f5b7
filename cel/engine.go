package cel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// EngineRule is the rule ID of findings that are about the request or the engine
// itself.
const EngineRule = "engine"

// Engine judges requests as the webhook does: by the rules in the generated CRDs,
// with the API server's own meaning and texts, and by the rules that only the
// webhook can judge. It is immutable and safe for concurrent use.
type Engine struct {
	group     string
	order     map[string]int
	resources map[string]*resourceRules
}

// resourceRules are the rules of one resource.
type resourceRules struct {
	group, kind string
	trees       map[string]*crdTree // by served version
	storage     string              // the version of an object that names none
	gates       []*gateRule         // in catalogue order
}

// Judge gives the verdict on a request by a user whom every rule binds.
func (e *Engine) Judge(ctx context.Context, r *Request) Verdict {
	return e.JudgeAs(ctx, r, false)
}

// JudgeAs is Judge; for the controller, only rules that bind everyone are judged.
// A resource without rules is allowed. What goes wrong in judging, a panic or the
// context's deadline included, is a RuleError: it never passes for an allowance.
func (e *Engine) JudgeAs(ctx context.Context, r *Request, controller bool) (v Verdict) {
	rules, ok := e.resources[r.Resource]
	if !ok {
		return VerdictOf(nil)
	}
	defer func() {
		if p := recover(); p != nil {
			v = engineError(fmt.Errorf("the engine failed: %v", p))
		}
	}()
	if err := r.complete(); err != nil {
		return engineError(err)
	}
	findings, warnings, err := rules.judge(ctx, r, controller)
	if err != nil {
		return engineError(err)
	}
	if len(findings) > 1 {
		inOrder(e.order, findings)
	}
	v = VerdictOf(findings)
	v.Warnings = warnings
	return v
}

func engineError(err error) Verdict {
	return VerdictOf([]Finding{{Rule: EngineRule, Outcome: RuleError, Message: err.Error()}})
}

func (rules *resourceRules) judge(ctx context.Context, r *Request, controller bool) (findings []Finding, warnings []string, err error) {
	version, err := rules.version(r)
	if err != nil {
		return nil, nil, err
	}
	if tree := rules.trees[version]; tree != nil && r.Operation != Delete {
		var old any
		if r.Operation == Update {
			old = r.OldObject
		}
		findings, warnings = tree.judge(ctx, r.Object, old)
	}
	if len(rules.gates) > 0 {
		findings = append(findings, judgeGates(ctx, rules.gates, rules.vars(r, version), controller)...)
	}
	return findings, warnings, nil
}

func (rules *resourceRules) vars(r *Request, version string) *gateVars {
	return &gateVars{request: r, kind: schema.GroupVersionKind{Group: rules.group, Version: version, Kind: rules.kind}}
}

// ErrBadRequest says that a request is not one that rules can be judged on.
var ErrBadRequest = errors.New("the request cannot be judged")

// complete checks that the objects are there which the operation has. Rules over
// a missing one would be skipped, that is, allow.
func (r *Request) complete() error {
	if !slices.Contains([]string{Main, Status, Scale}, r.Subresource) {
		return fmt.Errorf("%w: unknown subresource %q", ErrBadRequest, r.Subresource)
	}
	wantNew, wantOld := r.Operation != Delete, r.Operation != Create
	switch {
	case r.Operation != Create && r.Operation != Update && r.Operation != Delete:
		return fmt.Errorf("%w: unknown operation %q", ErrBadRequest, r.Operation)
	case wantNew && r.Object == nil:
		return fmt.Errorf("%w: %s without object", ErrBadRequest, r.Operation)
	case wantOld && r.OldObject == nil:
		return fmt.Errorf("%w: %s without old object", ErrBadRequest, r.Operation)
	}
	return nil
}

// version is the one the object is written in, of those that are served.
func (rules *resourceRules) version(r *Request) (string, error) {
	object := r.Object
	if r.Operation == Delete {
		object = r.OldObject
	}
	apiVersion, _ := object["apiVersion"].(string)
	if apiVersion == "" {
		return rules.storage, nil
	}
	version, ok := strings.CutPrefix(apiVersion, rules.group+"/")
	if _, served := rules.trees[version]; !ok || !served {
		return "", fmt.Errorf("%w: no rules for apiVersion %q", ErrBadRequest, apiVersion)
	}
	return version, nil
}

// Handles reports whether there is a rule for such requests. CRD rules are judged
// on CREATE and UPDATE, whatever the subresource.
func (e *Engine) Handles(resource string, op Operation, subresource string) bool {
	rules, ok := e.resources[resource]
	if !ok {
		return false
	}
	for _, tree := range rules.trees {
		if tree.root != nil && op != Delete {
			return true
		}
	}
	return slices.ContainsFunc(rules.gates, func(g *gateRule) bool { return g.rule.covers(op, subresource) })
}
