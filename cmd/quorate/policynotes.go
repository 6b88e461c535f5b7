package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/quorate/quorate/cel"
)

// layerNotes tells how a layer treats a rule.
type layerNotes struct {
	Layer    cel.Layer `json:"layer"`
	Enforced bool      `json:"enforced"`
	Notes    []string  `json:"notes"`
}

func notesOf(r *cel.Rule) []layerNotes {
	return []layerNotes{
		{cel.LayerCRD, r.In(cel.LayerCRD), crdNotes(r)},
		{cel.LayerWebhook, r.In(cel.LayerWebhook), webhookNotes(r)},
		{cel.LayerVAP, r.In(cel.LayerVAP), vapNotes(r)},
	}
}

func crdNotes(r *cel.Rule) []string {
	if !r.In(cel.LayerCRD) {
		return []string{"does not see " + strings.Join(beyondCRD(r), ", ")}
	}
	notes := []string{
		"answers before the other layers",
		"binds the controller too",
		"is not asked on DELETE",
	}
	if strings.Contains(r.Expression, "oldSelf") {
		return append(notes, "skips a rule over oldSelf on CREATE")
	}
	return notes
}

// beyondCRD lists what keeps a rule out of the CRD.
func beyondCRD(r *cel.Rule) []string {
	var needs []string
	if slices.Contains(r.RunsOn(), cel.Delete) {
		needs = append(needs, "DELETE")
	}
	if r.Binds == cel.BindsAllButController || strings.Contains(r.Expression, "request.") || strings.Contains(r.Expression, "authorizer.") {
		needs = append(needs, "who asks")
	}
	if len(r.Live) > 0 {
		needs = append(needs, "the live world")
	}
	if len(needs) == 0 {
		needs = append(needs, "what the rule is about")
	}
	return needs
}

func webhookNotes(r *cel.Rule) []string {
	if !r.In(cel.LayerWebhook) {
		return []string{"does not judge this rule"}
	}
	notes := []string{"is not called for the controller"}
	for _, name := range slices.Sorted(maps.Keys(r.Live)) {
		read := r.Live[name]
		what := "all " + read.Resource + " of the namespace"
		if read.Name != "" {
			what = fmt.Sprintf("the %s named by %s", read.Resource, read.Name)
		}
		notes = append(notes, fmt.Sprintf("reads live.%s before it judges: %s", name, what))
	}
	return notes
}

func vapNotes(r *cel.Rule) []string {
	if !r.In(cel.LayerVAP) {
		if len(r.Live) > 0 {
			return []string{"cannot read the live world"}
		}
		return []string{"has no policy for this rule"}
	}
	var notes []string
	if slices.Contains(r.RunsFor(), cel.Scale) {
		notes = append(notes, "does not see the object behind a scale request")
	}
	if r.Binds == cel.BindsAllButController {
		return append(notes, "leaves the controller out by its exact user name")
	}
	return append(notes, "binds the controller too")
}
