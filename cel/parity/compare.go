package parity

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/cel"
)

// Difference is a kind of request on which a layer does not judge rules that it
// has. There are no others: whatever else differs is a mistake.
type Difference struct {
	Name, Reason string
	Layer        cel.Layer
	// Covers says whether it concerns such a request and rule.
	Covers func(Pair, *cel.Rule) bool
}

// Differences lists them all. That a rule names only some layers is not among
// them: it is compared where it is.
var Differences = []Difference{
	{
		Name: "vap-no-scale", Layer: cel.LayerVAP,
		Reason: "A policy sees the Scale of a scale request, not the object behind it.",
		Covers: func(p Pair, _ *cel.Rule) bool { return p.Request.Subresource == cel.Scale },
	},
	{
		Name: "webhook-no-controller", Layer: cel.LayerWebhook,
		Reason: "The webhook's match conditions leave out the controller, so that its writes pass while the webhook is down; the other layers bind it where a rule binds everyone.",
		Covers: func(p Pair, r *cel.Rule) bool { return p.ByController && r.Binds == cel.BindsEveryone },
	},
}

// Mismatch is a request that two layers disagree on.
type Mismatch struct {
	Number uint64
	Layers [2]cel.Layer
	// Said are the findings of the rules that both layers judge, one a line.
	Said [2][]string
}

func (m Mismatch) String() string {
	return fmt.Sprintf("pair %d: %s says %s, %s says %s", m.Number,
		m.Layers[0], orAllow(m.Said[0]), m.Layers[1], orAllow(m.Said[1]))
}

func orAllow(said []string) string {
	return cmp.Or(strings.Join(said, "; "), string(cel.Allow))
}

// comparison compares the layers' verdicts on one pair.
type comparison struct {
	rules    map[string]*cel.Rule
	pair     Pair
	verdicts map[cel.Layer]cel.Verdict
	first    []cel.Layer // see Config
	// excused is told of each finding that a listed difference leaves out.
	excused func(Difference)
}

// mismatches compares each two layers: the same rules deny, or fail, with the
// same message at the same field.
func (c comparison) mismatches() []Mismatch {
	layers := []cel.Layer{cel.LayerCRD, cel.LayerWebhook, cel.LayerVAP}
	var out []Mismatch
	for i, a := range layers {
		for _, b := range layers[i+1:] {
			if c.judged(a) && c.judged(b) {
				m := Mismatch{c.pair.Number, [2]cel.Layer{a, b}, [2][]string{c.said(a, b), c.said(b, a)}}
				if !c.agree(m) {
					out = append(out, m)
				}
			}
		}
	}
	return out
}

// agree: a layer that tells its first finding alone agrees when the other has it
// too; when that one is none of the other's rules, it tells nothing.
func (c comparison) agree(m Mismatch) bool {
	for i, layer := range m.Layers {
		if !slices.Contains(c.first, layer) {
			continue
		}
		if len(m.Said[i]) == 0 {
			return len(m.Said[1-i]) == 0 || len(c.verdicts[layer].Findings) > 0
		}
		return slices.Contains(m.Said[1-i], m.Said[i][0])
	}
	return slices.Equal(m.Said[0], m.Said[1])
}

func (c comparison) judged(l cel.Layer) bool {
	_, ok := c.verdicts[l]
	return ok
}

// said lists a layer's findings that the other layer ought to have too. What is
// no rule of the catalogue is always among them.
func (c comparison) said(layer, other cel.Layer) []string {
	var out []string
	for _, f := range c.verdicts[layer].Findings {
		rule, ok := c.rules[f.Rule]
		if ok && (!rule.In(other) || c.excuses(other, rule)) {
			continue
		}
		out = append(out, strings.Join([]string{f.Rule, string(f.Outcome), f.Field, f.Reason, f.Message}, " | "))
	}
	return out
}

func (c comparison) excuses(layer cel.Layer, r *cel.Rule) bool {
	for _, d := range Differences {
		if d.Layer == layer && d.Covers(c.pair, r) {
			c.excused(d)
			return true
		}
	}
	return false
}
