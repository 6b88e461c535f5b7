package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/fleet"
	"github.com/quorate/quorate/test/world/script"
)

// apply is a beat: alice applies objects, after something has happened to machines.
type apply struct {
	name    string
	after   happens
	objects func() []client.Object
}

func (a apply) play(ctx context.Context, s *show) ([]string, error) {
	if err := s.happen(ctx, a.after); err != nil {
		return nil, err
	}
	text, err := fleet.YAML(a.objects()...)
	if err != nil {
		return nil, err
	}
	return s.player.Step(ctx, script.Step{Name: a.name, Command: "kubectl apply -f -", Input: text, Want: says("created")})
}

// machines are the TalosMachines of these names.
func machines(f *fleet.Fleet, names ...string) (out []client.Object) {
	for _, name := range names {
		out = append(out, f.TalosMachine(name))
	}
	return out
}
