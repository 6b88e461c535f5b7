package cel

import (
	"cmp"
	"slices"
)

// Catalogue is a folder of rules, sorted by resource, then ID. It is read-only
// once it is loaded.
type Catalogue struct {
	// Group is the API group that the rules' resources belong to.
	Group string
	Rules []*Rule
}

// Rule finds a rule by its ID.
func (c *Catalogue) Rule(id string) (*Rule, bool) {
	for _, r := range c.Rules {
		if r.ID == id {
			return r, true
		}
	}
	return nil, false
}

// WithExpression copies the catalogue with one rule's expression replaced; the
// other rules are shared. An unknown ID gives an equal copy.
func (c *Catalogue) WithExpression(id, expression string) *Catalogue {
	copied := &Catalogue{Group: c.Group, Rules: slices.Clone(c.Rules)}
	for i, r := range copied.Rules {
		if r.ID == id {
			changed := *r
			changed.Expression = expression
			copied.Rules[i] = &changed
		}
	}
	return copied
}

func (c *Catalogue) sort() {
	slices.SortFunc(c.Rules, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.ID, b.ID))
	})
}

// RunsOn gives the operations that the rule is judged on, the default filled in.
func (r *Rule) RunsOn() []Operation {
	if len(r.Operations) == 0 {
		return []Operation{Create, Update}
	}
	return r.Operations
}

// RunsFor gives the subresources that the rule is judged for, the default filled
// in: the object itself, and for the CRD layer whatever updates it.
func (r *Rule) RunsFor() []string {
	switch {
	case len(r.Subresources) > 0:
		return r.Subresources
	case r.In(LayerCRD):
		return []string{Main, Status, Scale}
	}
	return []string{Main}
}
