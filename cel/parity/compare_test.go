package parity

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/cel"
)

// fixed is a layer that always says the same.
type fixed []cel.Finding

func (f fixed) Judge(context.Context, *cel.Request) cel.Verdict { return cel.VerdictOf(f) }

func deny(rule, message string) cel.Finding {
	return cel.Finding{Rule: rule, Outcome: cel.Deny, Message: message, Field: "spec", Reason: "FieldValueForbidden"}
}

func TestCompare(t *testing.T) {
	all := []cel.Layer{cel.LayerCRD, cel.LayerWebhook, cel.LayerVAP}
	rules := &cel.Catalogue{Rules: []*cel.Rule{
		{ID: "a", Layers: all, Binds: cel.BindsEveryone}, {ID: "b", Layers: all, Binds: cel.BindsEveryone},
		{ID: "gate", Layers: all[1:], Binds: cel.BindsAllButController}, {ID: "own", Layers: all[1:2]},
	}}
	failed := cel.Finding{Rule: "a", Outcome: cel.RuleError, Message: "no such key: x", Field: "spec"}
	moved := deny("a", "no")
	moved.Field = "spec.x"
	for _, c := range []struct {
		name              string
		crd, webhook, vap fixed
		pair              Pair
		first             []cel.Layer
		want              []string
		excused           map[string]uint64
	}{
		{name: "all allow"},
		{name: "all say the same", crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "no")}, vap: fixed{deny("a", "no")}},
		{name: "one allows", crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "no")}, want: []string{
			"pair 7: crd says a | deny | spec | FieldValueForbidden | no, vap says allow",
			"pair 7: webhook says a | deny | spec | FieldValueForbidden | no, vap says allow"}},
		{name: "another message", crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "No")}, vap: fixed{deny("a", "no")}, want: []string{
			"pair 7: crd says a | deny | spec | FieldValueForbidden | no, webhook says a | deny | spec | FieldValueForbidden | No",
			"pair 7: webhook says a | deny | spec | FieldValueForbidden | No, vap says a | deny | spec | FieldValueForbidden | no"}},
		{name: "another field", crd: fixed{moved}, webhook: fixed{deny("a", "no")}, vap: fixed{moved}, want: []string{
			"pair 7: crd says a | deny | spec.x | FieldValueForbidden | no, webhook says a | deny | spec | FieldValueForbidden | no",
			"pair 7: webhook says a | deny | spec | FieldValueForbidden | no, vap says a | deny | spec.x | FieldValueForbidden | no"}},
		{name: "an error is no denial", crd: fixed{failed}, webhook: fixed{failed}, vap: fixed{deny("a", "no such key: x")}, want: []string{
			"pair 7: crd says a | error | spec |  | no such key: x, vap says a | deny | spec | FieldValueForbidden | no such key: x",
			"pair 7: webhook says a | error | spec |  | no such key: x, vap says a | deny | spec | FieldValueForbidden | no such key: x"}},
		{name: "rules are compared where they are", webhook: fixed{deny("gate", "no"), deny("own", "no")}, vap: fixed{deny("gate", "no")}},
		{name: "what is no rule counts", crd: fixed{{Rule: "engine", Outcome: cel.RuleError, Message: "broken"}}, webhook: fixed{}, want: []string{
			"pair 7: crd says engine | error |  |  | broken, webhook says allow", "pair 7: crd says engine | error |  |  | broken, vap says allow"}},
		{name: "a policy sees no scale request", crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "no")},
			pair: Pair{Request: &cel.Request{Subresource: cel.Scale}}, excused: map[string]uint64{"vap-no-scale": 2}},
		{name: "the webhook is not asked for the controller", crd: fixed{deny("a", "no")}, vap: fixed{deny("a", "no")},
			pair: Pair{ByController: true}, excused: map[string]uint64{"webhook-no-controller": 2}},
		{name: "nor is the controller bound", vap: fixed{deny("gate", "no")}, pair: Pair{ByController: true}, want: []string{
			"pair 7: webhook says allow, vap says gate | deny | spec | FieldValueForbidden | no"}},
		{name: "first of several", first: all[2:], crd: fixed{deny("a", "no"), deny("b", "no")}, webhook: fixed{deny("a", "no"), deny("b", "no")}, vap: fixed{deny("b", "no")}},
		{name: "first of none", first: all[2:], crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "no")}, want: []string{
			"pair 7: crd says a | deny | spec | FieldValueForbidden | no, vap says allow",
			"pair 7: webhook says a | deny | spec | FieldValueForbidden | no, vap says allow"}},
		{name: "first is another rule", first: all[2:], crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "no"), deny("gate", "no")}, vap: fixed{deny("gate", "no")}},
		{name: "first is a mistake", first: all[2:], crd: fixed{deny("a", "no")}, webhook: fixed{deny("a", "no")}, vap: fixed{deny("b", "no")}, want: []string{
			"pair 7: crd says a | deny | spec | FieldValueForbidden | no, vap says b | deny | spec | FieldValueForbidden | no",
			"pair 7: webhook says a | deny | spec | FieldValueForbidden | no, vap says b | deny | spec | FieldValueForbidden | no"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pair := c.pair
			pair.Number = 7
			if pair.Request == nil {
				pair.Request = &cel.Request{}
			}
			config := Config{Catalogue: rules, First: c.first, Workers: 1,
				Layers: map[cel.Layer]cel.Layered{cel.LayerCRD: c.crd, cel.LayerWebhook: c.webhook, cel.LayerVAP: c.vap}}
			report, err := Run(t.Context(), config, slices.Values([]Pair{pair}))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range report.Mismatches {
				got = append(got, m.String())
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			for name := range map[string]bool{"vap-no-scale": true, "webhook-no-controller": true} {
				if report.Excused[name] != c.excused[name] {
					t.Errorf("%s left out %d findings, want %d", name, report.Excused[name], c.excused[name])
				}
			}
		})
	}
}

func TestReportAddsUp(t *testing.T) {
	rules := &cel.Catalogue{Rules: []*cel.Rule{{ID: "a", Layers: []cel.Layer{cel.LayerCRD, cel.LayerVAP}}}}
	config := Config{Catalogue: rules, Workers: 3, Layers: map[cel.Layer]cel.Layered{cel.LayerCRD: fixed{deny("a", "no")}, cel.LayerVAP: fixed{}}}
	var pairs []Pair
	for n := range uint64(50) {
		pairs = append(pairs, Pair{Number: n, Request: &cel.Request{}})
	}
	report, err := Run(t.Context(), config, slices.Values(pairs))
	if err != nil {
		t.Fatal(err)
	}
	if report.Pairs != 50 || report.Mismatched != 50 || report.Denied["a"] != 50 || len(report.Mismatches) != 20 || report.Mismatches[19].Number != 19 {
		t.Errorf("got %+v", report)
	}
	text := "50 pairs, 50 on which layers differ\ndenied by a: 50\npair 0: crd says a | deny | spec | FieldValueForbidden | no, vap says allow\n"
	if !strings.HasPrefix(report.String(), text) {
		t.Errorf("printed %s", report)
	}
}

func TestRunEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	endless := func(yield func(Pair) bool) {
		for n := uint64(0); yield(Pair{Number: n, Request: &cel.Request{}}); n++ {
			if n == 10 {
				cancel()
			}
		}
	}
	if _, err := Run(ctx, Config{Catalogue: &cel.Catalogue{}, Workers: 2}, endless); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
