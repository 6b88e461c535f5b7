package suite

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/quorate/quorate/cel"
)

func TestCompare(t *testing.T) {
	denied := func(rules ...string) cel.Verdict {
		var findings []cel.Finding
		for _, rule := range rules {
			findings = append(findings, cel.Finding{Rule: rule, Outcome: cel.Deny, Message: "no (" + rule + ")"})
		}
		return cel.VerdictOf(findings)
	}
	failed := cel.VerdictOf([]cel.Finding{{Rule: "a", Outcome: cel.RuleError, Message: "no such key: x"}})
	deny := LayerExpect{Verdict: cel.Deny, Rule: "a", Message: "no (a)"}
	tests := map[string]struct {
		want LayerExpect
		got  cel.Verdict
		text []string
	}{
		"allowed as expected":     {LayerExpect{Verdict: cel.Allow}, denied(), nil},
		"denied as expected":      {deny, denied("a"), nil},
		"failed as expected":      {LayerExpect{Verdict: cel.RuleError, Rule: "a", Message: "no such key: x"}, failed, nil},
		"skipped as expected":     {LayerExpect{Verdict: Skip}, cel.Verdict{Outcome: Skip}, nil},
		"also denied":             {LayerExpect{Verdict: cel.Deny, Rule: "a", Message: "no (a)", Also: []string{"b"}}, denied("b", "a"), nil},
		"nothing said":            {LayerExpect{}, denied(), []string{"the case says nothing of this layer"}},
		"denied, not allowed":     {LayerExpect{Verdict: cel.Allow}, denied("a"), []string{"expected allow, got deny by a: no (a)"}},
		"allowed, not denied":     {deny, denied(), []string{"expected deny by a, got allow"}},
		"failed, not denied":      {deny, failed, []string{"expected deny by a, got error by a: no such key: x"}},
		"skipped, not denied":     {deny, cel.Verdict{Outcome: Skip}, []string{"expected deny by a, got skip"}},
		"allowed, not skipped":    {LayerExpect{Verdict: Skip}, denied(), []string{"expected skip, got allow"}},
		"another rule":            {deny, denied("b", "c"), []string{"expected deny by a, got deny by b: no (b); deny by c: no (c)"}},
		"another message":         {LayerExpect{Verdict: cel.Deny, Rule: "a", Message: "m"}, denied("a"), []string{"the message differs\nwant: m\ngot:  no (a)"}},
		"a further rule":          {deny, denied("a", "b"), []string{"not expected: deny by b: no (b)"}},
		"a further rule missing":  {LayerExpect{Verdict: cel.Deny, Rule: "a", Message: "no (a)", Also: []string{"b"}}, denied("a"), []string{"expected an objection by b too"}},
		"one of several expected": {LayerExpect{Verdict: cel.Deny, Rule: "a", Message: "no (a)", Also: []string{"b", "c"}}, denied("a", "c", "d"), []string{"not expected: deny by d: no (d)", "expected an objection by b too"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := compare(test.want, test.got); !slices.Equal(got, test.text) {
				t.Errorf("got %q, want %q", got, test.text)
			}
		})
	}
}

func TestGranted(t *testing.T) {
	g := granted{group: "example.com", namespace: "shop", grants: []Grant{
		{Verb: "paint", Resource: "widgets", Name: "one"},
		{Verb: "scale", Resource: "widgets", Subresource: "scale"},
		{Verb: "get", Resource: "nodes", Group: "other.example.com", Namespace: "else"},
	}}
	ask := func(verb, group, resource, subresource, namespace, name string) authorizer.Attributes {
		return authorizer.AttributesRecord{Verb: verb, APIGroup: group, Resource: resource, Subresource: subresource, Namespace: namespace, Name: name, ResourceRequest: true}
	}
	tests := map[string]struct {
		ask  authorizer.Attributes
		want authorizer.Decision
	}{
		"granted":             {ask("paint", "example.com", "widgets", "", "shop", "one"), authorizer.DecisionAllow},
		"another name":        {ask("paint", "example.com", "widgets", "", "shop", "two"), authorizer.DecisionDeny},
		"another verb":        {ask("delete", "example.com", "widgets", "", "shop", "one"), authorizer.DecisionDeny},
		"another group":       {ask("paint", "", "widgets", "", "shop", "one"), authorizer.DecisionDeny},
		"another namespace":   {ask("paint", "example.com", "widgets", "", "default", "one"), authorizer.DecisionDeny},
		"another resource":    {ask("paint", "example.com", "gadgets", "", "shop", "one"), authorizer.DecisionDeny},
		"a subresource of it": {ask("paint", "example.com", "widgets", "status", "shop", "one"), authorizer.DecisionDeny},
		"any name":            {ask("scale", "example.com", "widgets", "scale", "shop", "two"), authorizer.DecisionAllow},
		"spelled out":         {ask("get", "other.example.com", "nodes", "", "else", "n"), authorizer.DecisionAllow},
		"no resource":         {authorizer.AttributesRecord{Verb: "get", Path: "/healthz"}, authorizer.DecisionDeny},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, _, err := g.Authorize(context.Background(), test.ask); got != test.want || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	if got := compareWarnings(nil, []string{"even"}); got != nil {
		t.Errorf("a case that says nothing of warnings: %q", got)
	}
	want := []string{"the warnings differ\nwant: []\ngot:  [\"even\"]"}
	if got := compareWarnings([]string{}, []string{"even"}); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}
