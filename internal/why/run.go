package why

import (
	"context"
	"errors"
	"fmt"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/quorate/quorate/cel"
)

// Server is the part of an API server that a question needs, with the rights of
// whoever asks.
type Server interface {
	Reviews
	// Get returns the live object; a missing one is the server's NotFound.
	Get(ctx context.Context, t Target) (*unstructured.Unstructured, error)
	// DryRun sends the request with dryRun=All. A refusal is the server's status
	// as an error.
	DryRun(ctx context.Context, t Target, a Attempt) (warnings []string, err error)
	// Whoami returns the requester as admission sees it.
	Whoami(ctx context.Context) (authenticationv1.UserInfo, error)
}

// Config is a run's input.
type Config struct {
	Server Server
	// Live reads for the computed webhook.
	Live Live
	// Gate computes the layers that the server did not get to; nil leaves every
	// verdict to the server.
	Gate *Gate
	Asks []Ask
	// Timeout bounds each call to the server; 10 s if zero.
	Timeout time.Duration
}

const (
	defaultTimeout = 10 * time.Second
	// tries bounds how often a change is planned anew because the live object has
	// changed between reading it and asking.
	tries = 3
)

// Run asks the questions one by one. The error is of a server that gave no
// verdict, or ErrAsk; a refusal is none.
func Run(ctx context.Context, c Config) (Report, error) {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	user, note := c.whoami(ctx)
	var report Report
	for _, ask := range c.Asks {
		if err := ask.Validate(); err != nil {
			return report, err
		}
		one, err := c.answer(ctx, ask, user)
		if err != nil {
			return report, fmt.Errorf("ask about %s: %w", ask.Target, err)
		}
		if note != "" {
			one.Notes = append(one.Notes, note)
		}
		report.Cases = append(report.Cases, one)
	}
	return report, nil
}

func (c Config) whoami(ctx context.Context) (authenticationv1.UserInfo, string) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	user, err := c.Server.Whoami(ctx)
	if err != nil {
		return user, fmt.Sprintf("policies and webhook cannot be computed, since the server did not say who asks: %v", err)
	}
	return user, ""
}

func (c Config) answer(ctx context.Context, ask Ask, user authenticationv1.UserInfo) (Case, error) {
	found := Case{Object: ask.Target.String(), Namespace: ask.Target.Namespace, User: user.Username,
		Operation: operationOf(ask), Subresource: ask.Subresource}
	plan, warnings, err := c.try(ctx, ask)
	refusals, err := refusalsOf(err)
	if err != nil {
		return Case{}, err
	}
	if plan.Attempt.Operation != "" {
		found.Operation = plan.Attempt.Operation
	}
	found.Warnings, found.Verdict = warnings, verdictOf(refusals)
	found.Rows = Assemble(refusals, c.computed(ctx, ask, plan, user))
	return found, nil
}

func operationOf(ask Ask) cel.Operation {
	if ask.Delete {
		return cel.Delete
	}
	return cel.Update
}

// try plans and sends the change, again where the live object has changed in
// between.
func (c Config) try(ctx context.Context, ask Ask) (plan Plan, warnings []string, err error) {
	for range tries {
		plan, warnings, err = c.once(ctx, ask)
		if !apierrors.IsConflict(err) {
			break
		}
	}
	return plan, warnings, err
}

func (c Config) once(ctx context.Context, ask Ask) (Plan, []string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	live, err := c.live(ctx, ask.Target)
	if err != nil {
		return Plan{}, nil, err
	}
	plan, err := MakePlan(ask, live, c.shape(ask.Target))
	if err != nil {
		return Plan{}, nil, err
	}
	warnings, err := c.Server.DryRun(ctx, ask.Target, plan.Attempt)
	return plan, warnings, err
}

func (c Config) shape(t Target) Shape {
	if c.Gate == nil {
		return Shape{}
	}
	return c.Gate.Shapes[t.Resource]
}

// live is nil for an object that does not exist or has no name yet.
func (c Config) live(ctx context.Context, t Target) (*unstructured.Unstructured, error) {
	if t.Name == "" {
		return nil, nil
	}
	live, err := c.Server.Get(ctx, t)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	return live, err
}

// computed judges what the plan would change; nil for a kind of others, and where
// there is nothing to judge: the server has refused for want of the object.
func (c Config) computed(ctx context.Context, ask Ask, p Plan, user authenticationv1.UserInfo) map[Layer][]Row {
	operation := p.Attempt.Operation
	if !c.Gate.judges(ask.Target.Resource) || operation == "" || operation != cel.Create && p.Old == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	return c.Gate.compute(ctx, &cel.Request{
		Operation: operation, Resource: ask.Target.Resource.Resource, Subresource: ask.Subresource,
		Namespace: ask.Target.Namespace, Name: ask.Target.Name, User: user, DryRun: true,
		Object: p.New, OldObject: p.Old, Authorizer: selfAuthorizer{c.Server, user.Username},
	}, c.Live)
}

// refusalsOf tells a refusal from a call that failed.
func refusalsOf(err error) ([]Row, error) {
	if err == nil {
		return nil, nil
	}
	if answer := apierrors.APIStatus(nil); errors.As(err, &answer) {
		return Classify(answer.Status()), nil
	}
	return nil, err
}

func verdictOf(refusals []Row) Outcome {
	verdict := Allow
	for _, r := range refusals {
		if r.Verdict == Error {
			return Error
		}
		verdict = Deny
	}
	return verdict
}
