package doctor

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"
)

// question is one check: a name and how to find out.
type question struct {
	name string
	ask  func(context.Context, Config) []Finding
}

// questions in the order of dependence: the first that fails often explains those
// that follow.
var questions = []question{
	{"server-version", checkVersion},
	{"crds", checkCRDs},
	{"policies", checkPolicies},
	{"manager", checkManager},
	{"webhook-configuration", checkWebhook},
	{"webhook-endpoints", checkEndpoints},
	{"webhook-answers", checkAnswer},
	{"certificate-authority", checkAuthority},
	{"serving-certificate", checkLeaves},
	{"controller-identity", checkIdentity},
}

// Run examines the installation. The error is of an API server that does not
// answer at all; anything else is in the report.
func Run(ctx context.Context, c Config) (Report, error) {
	c = c.withDefaults()
	if _, err := c.version(ctx); err != nil && !apierrors.IsForbidden(err) {
		return Report{}, fmt.Errorf("ask the API server for its version: %w", err)
	}
	var r Report
	for _, q := range questions {
		if err := ctx.Err(); err != nil {
			return r, fmt.Errorf("examine %s: %w", q.name, err)
		}
		r.Checks = append(r.Checks, checkOf(q.name, q.ask(ctx, c)))
	}
	return r, nil
}

func (c Config) version(ctx context.Context) (*version.Info, error) {
	return read(ctx, c, c.Kube.Discovery().ServerVersionWithContext)
}

func checkVersion(ctx context.Context, c Config) []Finding {
	v, err := c.version(ctx)
	if err != nil {
		return []Finding{c.unread("the server's version", "get /version", err)}
	}
	return []Finding{JudgeVersion(v.GitVersion, c.Expected.Minors)}
}
