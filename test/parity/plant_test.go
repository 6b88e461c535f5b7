package parity

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/parity"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/world"
)

// plant is a mistake in one layer of the API server.
type plant struct {
	layer cel.Layer
	// rule is the one that it concerns.
	rule string
	put  func(context.Context, *world.World) error
}

var plants = []plant{
	{cel.LayerCRD, "scale-in-blocked", putCRDs("scale-in-blocked", "self.spec.replicas < oldSelf.spec.replicas", "oldSelf.spec.replicas < self.spec.replicas")},
	{cel.LayerVAP, "machine-role-immutable", putPolicies("machine-role-immutable", "==", "!=")},
	{cel.LayerWebhook, "operation-immutable", exempt("sam")},
}

// edited is the catalogue with a mistake in one rule.
func edited(id, old, new string) (*cel.Catalogue, error) {
	c, err := cel.Load(rules.FS, ".")
	if err != nil {
		return nil, err
	}
	rule, ok := c.Rule(id)
	if !ok || !strings.Contains(rule.Expression, old) {
		return nil, fmt.Errorf("plant a mistake in %s: %w", id, errNotThere)
	}
	rule.Expression = strings.Replace(rule.Expression, old, new, 1)
	return c, nil
}

var errNotThere = errors.New("it is not as it was thought to be")

func putCRDs(id, old, new string) func(context.Context, *world.World) error {
	return func(ctx context.Context, w *world.World) error {
		c, err := edited(id, old, new)
		if err != nil {
			return err
		}
		crds, err := injected(c)
		if err != nil {
			return err
		}
		return w.InstallCRDs(ctx, crds...)
	}
}

func putPolicies(id, old, new string) func(context.Context, *world.World) error {
	return func(ctx context.Context, w *world.World) error {
		c, err := edited(id, old, new)
		if err != nil {
			return err
		}
		policies, _, err := cel.Policies(c, world.ControllerUser)
		if err != nil {
			return err
		}
		var documents bytes.Buffer
		for _, policy := range policies {
			text, err := yaml.Marshal(policy)
			if err != nil {
				return err
			}
			documents.WriteString("---\n")
			documents.Write(text)
		}
		return w.Apply(ctx, documents.String())
	}
}

// exempt has the API server not ask the webhook for a user.
func exempt(user string) func(context.Context, *world.World) error {
	return func(ctx context.Context, w *world.World) error {
		client := w.Client().AdmissionregistrationV1().ValidatingWebhookConfigurations()
		found, err := client.Get(ctx, world.ConfigurationName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		condition := admissionregistrationv1.MatchCondition{Name: "planted", Expression: fmt.Sprintf("request.userInfo.username != %q", user)}
		found.Webhooks[0].MatchConditions = append(found.Webhooks[0].MatchConditions, condition)
		_, err = client.Update(ctx, found, metav1.UpdateOptions{})
		return err
	}
}

var (
	errNotFound = errors.New("the layers agree")
	errAnother  = errors.New("another difference is found")
)

// finds: the comparison that found nothing finds the plant, and in the end nothing
// else. While the API server takes it over, it may answer in any way.
func (h *hearing) finds(t *testing.T, p plant) {
	trials := h.concerned(t, p)
	must(t, shared.Enforce(t.Context(), p.layer))
	must(t, p.put(t.Context(), shared))
	must(t, cluster.Until(t.Context(), "the planted difference", func(ctx context.Context) error {
		planted, err := h.ask(ctx, p.layer, trials)
		if err != nil {
			return err
		}
		verdicts := maps.Clone(h.verdicts)
		verdicts[p.layer] = planted
		report, err := h.compare(ctx, verdicts, trials)
		if err == nil {
			err = p.in(report)
		}
		if err != nil {
			return err
		}
		t.Logf("found on %d of %d pairs, for instance: %s", report.Mismatched, report.Pairs, report.Mismatches[0])
		return nil
	}))
}

// in answers what the report lacks, or has besides the plant.
func (p plant) in(report *parity.Report) error {
	for _, m := range report.Mismatches {
		if !slices.Contains(m.Layers[:], p.layer) || !strings.Contains(m.String(), p.rule) {
			return fmt.Errorf("%w: %s", errAnother, m)
		}
	}
	if report.Mismatched == 0 {
		return errNotFound
	}
	return nil
}

// concerned are trials that the rule refuses, and as many of its resource that
// nothing refuses.
func (h *hearing) concerned(t *testing.T, p plant) []*trial {
	t.Helper()
	rule, _ := h.rules.Rule(p.rule)
	var refused, allowed []*trial
	for _, one := range h.trials {
		verdict := h.verdicts[p.layer][one.Request]
		switch {
		case len(verdict.Findings) == 1 && verdict.Findings[0].Rule == p.rule && len(refused) < 20:
			refused = append(refused, one)
		case verdict.Outcome == cel.Allow && one.Request.Resource == rule.Resource && len(allowed) < 20:
			allowed = append(allowed, one)
		}
	}
	if len(refused) == 0 || len(allowed) == 0 {
		t.Fatalf("%d pairs are refused by %s, %d of the resource are not", len(refused), p.rule, len(allowed))
	}
	return append(refused, allowed...)
}
