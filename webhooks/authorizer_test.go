package webhooks

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	celgo "github.com/google/cel-go/cel"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/library"

	"github.com/quorate/quorate/cel"
)

const mayOverride = `authorizer.group('quorate.dev').resource('talosclusters').namespace('ns').name('c').check('override').allowed()`

var needsOverride = cel.Finding{Rule: "restore-needs-override", Outcome: cel.Deny, Field: "spec.cluster", Reason: "FieldValueForbidden", Message: "override is needed (restore-needs-override)"}

// asking makes a verdict by the expression, evaluated with the authorizer
// library of the API server.
func asking(t *testing.T, expression string) func(*cel.Request) cel.Verdict {
	t.Helper()
	env, err := celgo.NewEnv(library.Authz(), library.AuthzSelectors(), celgo.Variable("authorizer", library.AuthorizerType))
	if err != nil {
		t.Fatal(err)
	}
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	return func(r *cel.Request) cel.Verdict {
		out, _, err := program.Eval(map[string]any{"authorizer": library.NewAuthorizerVal(userOf(r.User), r.Authorizer)})
		if err != nil {
			return cel.VerdictOf([]cel.Finding{{Rule: needsOverride.Rule, Outcome: cel.RuleError, Message: err.Error()}})
		}
		if out.Value() == true {
			return cel.Verdict{Outcome: cel.Allow}
		}
		return cel.VerdictOf([]cel.Finding{needsOverride})
	}
}

func userOf(u authenticationv1.UserInfo) user.Info {
	extra := map[string][]string{}
	for k, v := range u.Extra {
		extra[k] = v
	}
	return &user.DefaultInfo{Name: u.Username, UID: u.UID, Groups: u.Groups, Extra: extra}
}

func status(allowed, denied bool, evaluation string) func(context.Context) (authorizationv1.SubjectAccessReviewStatus, error) {
	return func(context.Context) (authorizationv1.SubjectAccessReviewStatus, error) {
		return authorizationv1.SubjectAccessReviewStatus{Allowed: allowed, Denied: denied, EvaluationError: evaluation}, nil
	}
}

// covers: C-6
func TestAccessReview(t *testing.T) {
	refused := plain{422, "Invalid", `Etcd.quorate.dev "a" is invalid: spec.cluster: Forbidden: override is needed (restore-needs-override)`}
	for _, tt := range []struct {
		name, expression string
		answer           func(context.Context) (authorizationv1.SubjectAccessReviewStatus, error)
		want             plain
		questions        int
	}{
		{"allowed", mayOverride, status(true, false, ""), plain{}, 1},
		{"not allowed", mayOverride, status(false, false, ""), refused, 1},
		{"denied", mayOverride, status(false, true, ""), refused, 1},
		{"allowed and denied at once", mayOverride, status(true, true, ""), refused, 1},
		{"not allowed, with a dangling binding", mayOverride, status(false, false, `role "x" not found`), refused, 1},
		{"not asked", "true || " + mayOverride, status(false, false, ""), plain{}, 0},
		{"asked twice", mayOverride + " && " + mayOverride, status(true, false, ""), plain{}, 1},
		{"asked two questions", mayOverride + " && authorizer.path('/healthz').check('get').allowed()", status(true, false, ""), plain{}, 2},
		{"the API server is away", mayOverride, func(context.Context) (authorizationv1.SubjectAccessReviewStatus, error) {
			return authorizationv1.SubjectAccessReviewStatus{}, errors.New("connection refused")
		}, plain{500, "InternalError", `rule access-review could not be evaluated: could not ask whether "alice" may override talosclusters.quorate.dev "c" in namespace "ns": review access: connection refused; nothing was changed, retry`}, 1},
		{"the API server is away and the rule would not mind", "!" + mayOverride, func(context.Context) (authorizationv1.SubjectAccessReviewStatus, error) {
			return authorizationv1.SubjectAccessReviewStatus{}, errors.New("connection refused")
		}, plain{500, "InternalError", `rule access-review could not be evaluated: could not ask whether "alice" may override talosclusters.quorate.dev "c" in namespace "ns": review access: connection refused; nothing was changed, retry`}, 1},
		{"no answer in time", mayOverride, func(ctx context.Context) (authorizationv1.SubjectAccessReviewStatus, error) {
			<-ctx.Done()
			return authorizationv1.SubjectAccessReviewStatus{}, ctx.Err()
		}, plain{500, "InternalError", `rule access-review could not be evaluated: could not ask whether "alice" may override talosclusters.quorate.dev "c" in namespace "ns": no answer from the API server within 20ms; nothing was changed, retry`}, 1},
		{"a selector", `authorizer.group('').resource('pods').labelSelector('a=b').check('list').allowed()`, status(true, false, ""),
			plain{500, "InternalError", `rule access-review could not be evaluated: could not ask whether "alice" may list pods: field and label selectors cannot be checked here; nothing was changed, retry`}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.options.Budget = 20 * time.Millisecond
			f.judge.verdict, f.reviewer.answer = asking(t, tt.expression), tt.answer
			response := f.ask(t, reviewOf(nil))
			if got := plainOf(response.Result); got != tt.want || response.Allowed != (tt.want == plain{}) {
				t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, got, tt.want)
			}
			if got := len(f.reviewer.asked); got != tt.questions {
				t.Errorf("%d questions asked, want %d", got, tt.questions)
			}
		})
	}
}

// The question is about the requester with everything that tells who it is.
func TestAccessReviewQuestion(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = asking(t, mayOverride+` && authorizer.path('/healthz').check('get').allowed()`+
		` && authorizer.serviceAccount('ns','robot').group('apps').resource('deployments').subresource('scale').check('update').allowed()`)
	f.ask(t, reviewOf(fields{"userInfo": `{"username":"alice","uid":"7","groups":["dev"],"extra":{"scopes":["a","b"]}}`}))
	alice := authorizationv1.SubjectAccessReviewSpec{User: "alice", UID: "7", Groups: []string{"dev"}, Extra: map[string]authorizationv1.ExtraValue{"scopes": {"a", "b"}}}
	override, health, robot := alice, alice, authorizationv1.SubjectAccessReviewSpec{
		User: "system:serviceaccount:ns:robot", Groups: []string{"system:serviceaccounts", "system:serviceaccounts:ns"}, Extra: map[string]authorizationv1.ExtraValue{},
	}
	override.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: "ns", Verb: "override", Group: "quorate.dev", Version: "*", Resource: "talosclusters", Name: "c"}
	health.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: "/healthz", Verb: "get"}
	robot.ResourceAttributes = &authorizationv1.ResourceAttributes{Verb: "update", Group: "apps", Version: "*", Resource: "deployments", Subresource: "scale"}
	if want := []authorizationv1.SubjectAccessReviewSpec{override, health, robot}; !reflect.DeepEqual(f.reviewer.asked, want) {
		t.Errorf("asked\n%+v, want\n%+v", f.reviewer.asked, want)
	}
}

// An answer is good for one request: the next one asks again.
func TestAccessIsNotRemembered(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = asking(t, mayOverride)
	gate := f.gate(t)
	serve := served(t, gate, []byte(reviewOf(nil)))
	serve()
	serve()
	if got := len(f.reviewer.asked); got != 2 {
		t.Errorf("%d questions for two requests", got)
	}
}
