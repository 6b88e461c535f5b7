package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/doctor"
	"github.com/quorate/quorate/internal/why"
	"github.com/quorate/quorate/manifests"
)

// The probe must be one that every layer of this version allows, and that the
// webhook has a word for: else its silence or a refusal would prove nothing.
func TestProbeIsAllowedWithAWarning(t *testing.T) {
	expected, probe, err := thisVersion(context.Background(), doctor.DefaultNames())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(probe.Warning, "spec.replicas: 2 members ") {
		t.Errorf("warning %q", probe.Warning)
	}
	catalogue, err := loadRules(embeddedRules)
	if err != nil {
		t.Fatal(err)
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := why.NewGate(catalogue, crds, doctor.DefaultNames().Controller())
	if err != nil {
		t.Fatal(err)
	}
	request := &cel.Request{Operation: cel.Create, Resource: "etcds", Namespace: probe.Target.Namespace, Object: probe.Object.Object}
	request.User.Username = "alice"
	for name, judge := range map[string]cel.Layered{"crd": gate.CRD, "vap": gate.VAP} {
		if v := judge.Judge(context.Background(), request); v.Outcome != cel.Allow {
			t.Errorf("layer %s: %+v", name, v)
		}
	}
	if len(expected.Policies) == 0 || len(expected.CRDs) != 5 || !slices.Contains(expected.Minors, 37) {
		t.Errorf("%d policies, %d CRDs, minors %v", len(expected.Policies), len(expected.CRDs), expected.Minors)
	}
}
