package why

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/kube"
)

// Names by which our own objections are known among those of others.
const (
	// WebhookName is our webhook's; further entries end with a dot and it.
	WebhookName = "gate.quorate.dev"
	// PolicyPrefix begins the names of our policies.
	PolicyPrefix = "quorate-"
)

// Webhook judges as the webhook does.
type Webhook interface {
	Judge(ctx context.Context, r *cel.Request) cel.Verdict
	LiveReads(r *cel.Request) (map[string]cel.LiveTarget, error)
	Handles(resource string, operation cel.Operation, subresource string) bool
}

// Live reads what the webhook's rules want to know of the world.
type Live = kube.Reader

// Gate is what computes the layers that the server did not get to.
type Gate struct {
	CRD, VAP cel.Layered
	Webhook  Webhook
	// Shapes are the kinds that are computed; any other is the server's alone.
	Shapes map[schema.GroupVersionResource]Shape
	// Controller is the user name that the webhook leaves out.
	Controller string
}

// judges reports whether the kind is one of ours.
func (g *Gate) judges(resource schema.GroupVersionResource) bool {
	if g == nil {
		return false
	}
	_, ok := g.Shapes[resource]
	return ok
}

// compute gives each layer's verdict on the request, by layer.
func (g *Gate) compute(ctx context.Context, r *cel.Request, live Live) map[Layer][]Row {
	if r.User.Username == "" {
		const why = "who asks is not known"
		return map[Layer][]Row{LayerCRD: g.crd(ctx, r), LayerVAP: unknown(LayerVAP, why), LayerWebhook: unknown(LayerWebhook, why)}
	}
	return map[Layer][]Row{
		LayerCRD:     g.crd(ctx, r),
		LayerVAP:     g.vap(ctx, r),
		LayerWebhook: g.webhook(ctx, r, live),
	}
}

func (g *Gate) crd(ctx context.Context, r *cel.Request) []Row {
	if r.Operation == cel.Delete {
		return passed(LayerCRD, "not asked: CRD rules do not run on DELETE")
	}
	return rowsOf(LayerCRD, g.CRD.Judge(ctx, r))
}

func (g *Gate) vap(ctx context.Context, r *cel.Request) []Row {
	if r.Subresource == cel.Scale {
		return passed(LayerVAP, "not asked: a policy does not see the object behind a scale request")
	}
	return rowsOf(LayerVAP, g.VAP.Judge(ctx, r))
}

func (g *Gate) webhook(ctx context.Context, r *cel.Request, live Live) []Row {
	switch {
	case g.Controller != "" && r.User.Username == g.Controller:
		return passed(LayerWebhook, "not asked: the controller is exempt")
	case !g.Webhook.Handles(r.Resource, r.Operation, r.Subresource):
		return passed(LayerWebhook, "not asked: it has no rule for this request")
	}
	values, err := g.read(ctx, r, live)
	if err != nil {
		return unknown(LayerWebhook, err.Error())
	}
	judged := *r
	judged.Live = values
	return rowsOf(LayerWebhook, g.Webhook.Judge(ctx, &judged))
}

// read gives what the rules want to know, with the user's own rights: where these
// do not reach, the webhook's may, so the verdict is unknown and not an error.
func (g *Gate) read(ctx context.Context, r *cel.Request, live Live) (map[string]any, error) {
	targets, err := g.Webhook.LiveReads(r)
	if err != nil {
		return nil, fmt.Errorf("find out what the rules read: %w", err)
	}
	values := make(map[string]any, len(targets))
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(targets)) {
		value, err := kube.Read(ctx, live, targets[name])
		values[name] = value
		failed = append(failed, err)
	}
	return values, errors.Join(failed...)
}

func unknown(layer Layer, message string) []Row {
	return []Row{{Layer: layer, Verdict: Unknown, Source: Computed, Message: message}}
}

func passed(layer Layer, message string) []Row {
	return []Row{{Layer: layer, Verdict: Allow, Source: Computed, Message: message}}
}

func rowsOf(layer Layer, v cel.Verdict) []Row {
	if v.Outcome == cel.Allow {
		return passed(layer, "")
	}
	rows := make([]Row, 0, len(v.Findings))
	for _, f := range v.Findings {
		row := Row{Layer: layer, Verdict: Deny, Rule: f.Rule, Field: f.Field, Message: f.Message, Source: Computed}
		if f.Outcome == cel.RuleError {
			row.Verdict = Error
		}
		rows = append(rows, row)
	}
	return rows
}

// ours reports whether an objection of the server's is that of our own webhook or
// policy.
func ours(r Row) bool {
	switch r.Layer {
	case LayerWebhook:
		return r.By == WebhookName || strings.HasSuffix(r.By, "."+WebhookName)
	case LayerVAP:
		return strings.HasPrefix(r.By, PolicyPrefix)
	}
	return true
}
