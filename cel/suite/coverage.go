package suite

// RuleCoverage tells which sides of a rule's conditions its cases reached.
type RuleCoverage struct {
	Rule       string      `json:"rule"`
	File       string      `json:"file"`
	Percent    float64     `json:"percent"`
	Conditions []Condition `json:"conditions"`
}

// Condition is a leaf condition of a rule. Line and Column of At are those in the
// rule's file; where the file folds the expression, those of the expression.
type Condition struct {
	Source string   `json:"source"`
	At     Position `json:"at"`
	// True and False count evaluations over all cases.
	True  int `json:"true"`
	False int `json:"false"`
}

// Missing says what was never seen: "never true", "never false", "never
// evaluated", or nothing.
func (c Condition) Missing() string {
	switch {
	case c.True == 0 && c.False == 0:
		return "never evaluated"
	case c.True == 0:
		return "never true"
	case c.False == 0:
		return "never false"
	}
	return ""
}

func (c RuleCoverage) reached() int {
	n := 0
	for _, condition := range c.Conditions {
		n += min(condition.True, 1) + min(condition.False, 1)
	}
	return n
}

func (w *watcher) coverage(place *placer) RuleCoverage {
	c := RuleCoverage{Rule: w.rule.ID, File: w.rule.File, Conditions: []Condition{}}
	for i, leaf := range w.leaves {
		line, column := w.tree.position(leaf.start)
		c.Conditions = append(c.Conditions, Condition{
			Source: w.tree.text(leaf), At: place.position(line, column),
			True: w.seen[i].True, False: w.seen[i].False,
		})
	}
	c.Percent = percent(c.reached(), 2*len(c.Conditions))
	return c
}
