package main

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/quorate/quorate/manifests"
)

func commandsOf(c *cobra.Command) (out []string) {
	for _, child := range c.Commands() {
		out = append(append(out, child.CommandPath()), commandsOf(child)...)
	}
	return out
}

// Nobody can order the removal of a member from outside: whoever adds a command, a kind
// or a subresource looks at this list once more.
//
//
func TestNothingRemovesAMember(t *testing.T) {
	got := commandsOf(newRootCommand())
	slices.Sort(got)
	if want := []string{
		"quorate backup", "quorate backup list", "quorate backup now", "quorate backup verify", "quorate doctor", "quorate manager", "quorate operation", "quorate operation get", "quorate operation list", "quorate operation release", "quorate operation watch", "quorate policy", "quorate policy explain", "quorate policy generate", "quorate policy rules",
		"quorate policy test", "quorate restore", "quorate snapshot-worker", "quorate version", "quorate why",
	}; !slices.Equal(got, want) {
		t.Errorf("commands %q, want %q", got, want)
	}
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, crd := range crds {
		kinds = append(kinds, crd.Spec.Names.Kind)
		for _, v := range crd.Spec.Versions {
			if s := v.Subresources; s != nil && s.Scale != nil && crd.Spec.Names.Kind != "Etcd" {
				t.Errorf("%s has a scale subresource", crd.Spec.Names.Kind)
			}
		}
	}
	slices.Sort(kinds)
	if want := []string{"Etcd", "TalosCluster", "TalosEtcdBackup", "TalosMachine", "TalosOperation"}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %q, want %q", kinds, want)
	}
}
