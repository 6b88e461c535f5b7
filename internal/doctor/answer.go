package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/quorate/quorate/internal/why"
)

// Probe is a harmless object that the webhook allows with a warning: the warning
// is the proof that it was asked. It is sent as a dry run, so nothing is stored.
type Probe struct {
	Target why.Target
	Object *unstructured.Unstructured
	// Warning is what the webhook says of the object.
	Warning string
}

func checkAnswer(ctx context.Context, c Config) []Finding {
	me, err := read(ctx, c, c.Prober.Whoami)
	if err != nil {
		me = authenticationv1.UserInfo{} // then at worst an exemption shows as silence
	}
	warnings, err := read(ctx, c, func(ctx context.Context) ([]string, error) {
		return c.Prober.DryRun(ctx, c.Probe.Target, why.Attempt{Operation: "CREATE", Create: c.Probe.Object})
	})
	if err != nil {
		return []Finding{c.judgeRefusal(err)}
	}
	return []Finding{c.judgeWarnings(me.Username, warnings)}
}

func (c Config) judgeWarnings(me string, warnings []string) Finding {
	switch {
	case slices.Contains(warnings, c.Probe.Warning):
		return Finding{State: OK, Seen: "the webhook was asked about a dry run and answered"}
	case me == c.Names.Controller():
		return Finding{Unknown, "the webhook is not asked about changes by the controller, which you are",
			"Run this as somebody else, or with --as."}
	case len(warnings) > 0:
		return Finding{Warning, fmt.Sprintf("a dry run was answered with other words than this version's webhook uses: %q", warnings),
			"Compare the manager's version with this program's: quorate version."}
	}
	return Finding{Failed, "a dry run was allowed without a word of the webhook, so it is not asked", reinstall}
}

// judgeRefusal reads why the probe was refused. Only a refusal by other than the
// webhook leaves open whether it answers.
func (c Config) judgeRefusal(err error) Finding {
	answer := apierrors.APIStatus(nil)
	if !errors.As(err, &answer) {
		return c.unread("the webhook's answer", "create "+c.Probe.Target.Resource.GroupResource().String(), err)
	}
	if s := answer.Status(); apierrors.IsNotFound(err) && (s.Details == nil || s.Details.Kind != "namespaces") {
		return Finding{Failed, fmt.Sprintf("the API server does not serve %s", c.Probe.Target.Resource.GroupResource()), reinstall}
	}
	r := why.Classify(answer.Status())[0]
	switch {
	case r.Layer == why.LayerWebhook && r.By == why.WebhookName && r.Verdict == why.Error:
		return Finding{Failed, fmt.Sprintf("the API server cannot get a verdict from the webhook: %s", r.Message),
			"Look at the checks manager, webhook-endpoints and serving-certificate. To change something all the same, delete the ValidatingWebhookConfiguration " + c.Names.Webhook + "."}
	case r.Layer == why.LayerWebhook && r.By == why.WebhookName:
		return Finding{Warning, fmt.Sprintf("the webhook answers, but refuses what this version's allows: %s", r.Message),
			"Compare the manager's version with this program's: quorate version."}
	case r.Layer == why.LayerRBAC:
		return Finding{Unknown, "you may not ask: " + r.Message,
			fmt.Sprintf("Ask for the permission to create %s in %s, or let somebody run this who has it.", c.Probe.Target.Resource.GroupResource(), c.Probe.Target.Namespace)}
	}
	return Finding{Unknown, fmt.Sprintf("the dry run was refused before the webhook was asked, by layer %s: %s", r.Layer, r.Message),
		"Look at that layer, then run this again."}
}
