package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/quorate/quorate/cel"
)

// judge is a layer.
type judge interface {
	Judge(ctx context.Context, r *cel.Request) cel.Verdict
}

// bench is where cases are judged: a folder's rules compiled for each layer.
type bench struct {
	folder *Folder
	engine *cel.Engine
	// whole holds every rule, those too that the webhook does not enforce.
	whole  *cel.Engine
	layers map[cel.Layer]judge
}

// trial is a case ready to be judged.
type trial struct {
	c       *Case
	rule    *cel.Rule
	request *cel.Request
}

// exempt says that the rule does not bind who asks.
func (t *trial) exempt() bool { return t.c.Controller && t.rule.Binds == cel.BindsAllButController }

func newBench(f *Folder) (*bench, error) {
	b := &bench{folder: f, layers: map[cel.Layer]judge{}}
	var err error
	if b.engine, err = cel.New(f.Catalogue, f.CRDs); err != nil {
		return nil, err
	}
	b.layers[cel.LayerWebhook] = b.engine
	if b.whole, err = wholeEngine(f, b.engine); err != nil {
		return nil, err
	}
	if uses(f.Catalogue, cel.LayerCRD) {
		if b.layers[cel.LayerCRD], err = cel.NewCRDLayer(f.Catalogue, f.CRDs); err != nil {
			return nil, err
		}
	}
	if uses(f.Catalogue, cel.LayerVAP) {
		policies, _, err := cel.Policies(f.Catalogue, f.Policy.Controller)
		if err != nil {
			return nil, err
		}
		if b.layers[cel.LayerVAP], err = cel.NewVAPLayer(f.Catalogue, policies); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func wholeEngine(f *Folder, engine *cel.Engine) (*cel.Engine, error) {
	c := &cel.Catalogue{Group: f.Catalogue.Group, Rules: slices.Clone(f.Catalogue.Rules)}
	changed := false
	for i, r := range c.Rules {
		if !r.In(cel.LayerWebhook) {
			everywhere := *r
			everywhere.Layers = append(slices.Clone(r.Layers), cel.LayerWebhook)
			c.Rules[i], changed = &everywhere, true
		}
	}
	if !changed {
		return engine, nil
	}
	return cel.New(c, f.CRDs)
}

func uses(c *cel.Catalogue, layer cel.Layer) bool {
	return slices.ContainsFunc(c.Rules, func(r *cel.Rule) bool { return r.In(layer) })
}

// prepare completes a case's request. Problems carry their place.
func (b *bench) prepare(rule *cel.Rule, k *kind, c *Case) (*trial, error) {
	request, err := k.request(c, rule.Resource)
	problems := []error{err, expectsOnly(rule, c)}
	if c.Controller {
		request.User, err = b.controller(c)
		problems = append(problems, err)
	}
	request.Authorizer = granted{grants: c.Allow, group: b.folder.Catalogue.Group, namespace: request.Namespace}
	request.Live, err = b.live(c, request)
	problems = append(problems, err)
	return &trial{c: c, rule: rule, request: request}, errors.Join(problems...)
}

func expectsOnly(rule *cel.Rule, c *Case) error {
	var problems []error
	for _, layer := range layers {
		if _, ok := c.Expect.Layers[layer]; ok && !rule.In(layer) {
			problems = append(problems, c.source.errorf(c.source.at("expect", string(layer)),
				"expect.%s: rule %s is not enforced there", layer, rule.ID))
		}
	}
	return errors.Join(problems...)
}

// controller gives the identity that policy.yaml names, with the groups that a
// ServiceAccount's token brings.
func (b *bench) controller(c *Case) (authenticationv1.UserInfo, error) {
	name := b.folder.Policy.Controller
	if name == "" {
		return authenticationv1.UserInfo{}, c.source.errorf(c.source.at("controller"),
			"controller: %s names no controller", b.folder.source.file)
	}
	user := authenticationv1.UserInfo{Username: name}
	if namespace, _, err := serviceaccount.SplitUsername(name); err == nil {
		user.Groups = append(serviceaccount.MakeGroupNames(namespace), "system:authenticated")
	}
	return user, nil
}

// judge asks each layer of the rule, and the watcher whether the rule fired.
func (b *bench) judge(ctx context.Context, t *trial, w *watcher) (CaseResult, error) {
	result := CaseResult{Rule: t.rule.ID, Name: t.c.Name, At: t.c.At, Passed: true}
	for _, layer := range layers {
		if !t.rule.In(layer) {
			continue
		}
		verdict := b.ask(ctx, layer, t)
		l := LayerResult{Layer: layer, Verdict: verdict.Outcome}
		l.Failures = compare(t.c.Expect.Of(layer, t.c.Operation, t.c.Subresource), verdict)
		if layer == cel.LayerWebhook {
			l.Failures = append(l.Failures, compareWarnings(t.c.Warnings, verdict.Warnings)...)
		}
		result.Passed = result.Passed && len(l.Failures) == 0
		result.Layers = append(result.Layers, l)
	}
	fired := false
	if !t.exempt() {
		var err error
		if fired, err = w.watch(ctx, t.request); err != nil {
			return result, err
		}
	}
	if failure := vacuity(t.c.Fires, fired); failure != "" {
		result.Passed = false
		result.Failures = append(result.Failures, failure)
	}
	return result, ctx.Err()
}

// ask gives a layer's verdict. The webhook is not called for the controller:
// its match conditions leave that identity out, whatever the rule.
func (b *bench) ask(ctx context.Context, layer cel.Layer, t *trial) cel.Verdict {
	switch {
	case layer == cel.LayerCRD && t.request.Operation == cel.Delete,
		layer == cel.LayerVAP && t.request.Subresource == cel.Scale:
		return cel.Verdict{Outcome: Skip}
	case layer == cel.LayerWebhook && t.c.Controller:
		return cel.VerdictOf(nil)
	}
	return b.layers[layer].Judge(ctx, t.request)
}

func vacuity(meant, fired bool) string {
	switch {
	case meant && !fired:
		return "the rule never fired: it is not evaluated on this request; change the request, or say fires: false"
	case !meant && fired:
		return "the case says fires: false, but the rule was evaluated"
	}
	return ""
}

func compareWarnings(want, got []string) []string {
	if want == nil || slices.Equal(want, got) {
		return nil
	}
	return []string{fmt.Sprintf("the warnings differ\nwant: %q\ngot:  %q", want, got)}
}
