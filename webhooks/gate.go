package webhooks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"

	"github.com/quorate/quorate/cel"
)

// Judge is the rule engine as the gate needs it.
type Judge interface {
	// JudgeAs gives the verdict; for the controller, rules that bind all but the
	// controller are left out.
	JudgeAs(ctx context.Context, r *cel.Request, controller bool) cel.Verdict
	// LiveReads tells what must be read before this request can be judged.
	LiveReads(r *cel.Request) (map[string]cel.LiveTarget, error)
}

// Options are what a Gate is made of. All but Budget and Log are required.
type Options struct {
	Judge     Judge
	Resources Resources
	Live      Live
	Access    AccessReviewer
	// Controller is the exact user name of our controller's ServiceAccount.
	Controller string
	// Budget is what a verdict may spend on asking the API server; DefaultBudget
	// if zero.
	Budget  time.Duration
	Metrics *Metrics
	Log     logr.Logger
}

// ErrIncomplete marks options that a gate cannot work with.
var ErrIncomplete = errors.New("incomplete gate options")

// Gate judges admission reviews. It is safe for concurrent use, keeps nothing
// between two requests, and bounds those that are under way.
type Gate struct {
	judge      Judge
	known      Resources
	live       Live
	access     AccessReviewer
	controller identity
	limit      time.Duration
	metrics    *Metrics
	log        logr.Logger
	inflight   *inflight
}

// New makes a gate. It fails with ErrIncomplete rather than make one that could
// not refuse for want of a part.
func New(o Options) (*Gate, error) {
	for name, missing := range map[string]bool{
		"Judge": o.Judge == nil, "Resources": len(o.Resources) == 0, "Live": o.Live == nil,
		"Access": o.Access == nil, "Controller": o.Controller == "", "Metrics": o.Metrics == nil,
	} {
		if missing {
			return nil, fmt.Errorf("%w: no %s", ErrIncomplete, name)
		}
	}
	if o.Budget == 0 {
		o.Budget = DefaultBudget
	}
	return &Gate{
		judge: o.Judge, known: o.Resources, live: o.Live, access: o.Access,
		controller: identity(o.Controller), limit: o.Budget, metrics: o.Metrics, log: o.Log,
		inflight: newInflight(),
	}, nil
}

// respond answers a review's request. A dry run gets the same verdict by the
// same way, which has no side effect.
func (g *Gate) respond(ctx context.Context, r *reviewRequest) *admissionv1.AdmissionResponse {
	response, err := g.verdict(ctx, r)
	if err == nil {
		return response
	}
	return g.turnAway(r, err)
}

// turnAway answers with a refusal.
func (g *Gate) turnAway(r *reviewRequest, err error) *admissionv1.AdmissionResponse {
	no := asRefusal(err)
	g.count(no.id, no.outcome, r)
	g.log.Info("request refused", "uid", r.UID, "resource", r.Resource.Resource, "namespace", r.Namespace, "name", r.Name, "user", r.UserInfo.Username, "message", no.message)
	return respondWith(no)
}

func (g *Gate) verdict(ctx context.Context, review *reviewRequest) (*admissionv1.AdmissionResponse, error) {
	r, res, err := newRequest(review, g.known)
	if err != nil {
		return nil, err
	}
	b := newBudget(g.limit)
	if err := g.complete(ctx, b, r, res); err != nil {
		return nil, err
	}
	controller := g.controller.is(r.User)
	verdict := g.judged(ctx, b, r, controller)
	if verdict.Outcome == cel.Allow {
		verdict.Warnings = append(slices.Clip(verdict.Warnings), advice(res.kind.GroupKind(), r)...)
	}
	g.record(review, r, verdict, controller)
	response := respondTo(r, res, verdict)
	auditOrder(response, r)
	if controller {
		response.AuditAnnotations[auditExempt] = r.User.Username
	}
	return response, nil
}

// complete adds to the request what the review does not carry.
func (g *Gate) complete(ctx context.Context, b budget, r *cel.Request, res resource) error {
	if r.Subresource == cel.Scale {
		if err := g.readParents(ctx, b, r, res); err != nil {
			return err
		}
	}
	targets, err := g.judge.LiveReads(r)
	if err != nil {
		return refuseBroken(liveRead, "what to read for this request could not be worked out: %v", err)
	}
	r.Live, err = g.readLive(ctx, b, targets)
	return err
}

// judged asks the rules, and times them.
func (g *Gate) judged(ctx context.Context, b budget, r *cel.Request, controller bool) cel.Verdict {
	who := &access{ctx: ctx, budget: b, reviewer: g.access}
	r.Authorizer = who
	start := time.Now()
	verdict := g.judge.JudgeAs(ctx, r, controller)
	g.metrics.evaluated(time.Since(start))
	return who.settle(verdict)
}

// record counts a verdict, and logs one that is not an allowance.
func (g *Gate) record(review *reviewRequest, r *cel.Request, v cel.Verdict, controller bool) {
	if controller {
		g.metrics.exempted()
	}
	if v.Outcome == cel.Allow {
		g.count(noRule, cel.Allow, review)
		return
	}
	for _, f := range v.Findings {
		g.count(f.Rule, f.Outcome, review)
		g.log.Info("request refused", "uid", review.UID, "rule", f.Rule, "verdict", f.Outcome, "resource", r.Resource, "subresource", r.Subresource,
			"namespace", r.Namespace, "name", shownName(r), "user", r.User.Username, "message", f.Message)
	}
}

func (g *Gate) count(rule string, outcome cel.Outcome, r *reviewRequest) {
	g.metrics.decided(rule, outcome, operationLabel(r.Operation), g.known.label(r.Resource))
}
