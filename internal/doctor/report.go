package doctor

import "slices"

// State is what was found.
type State string

// The states, from good to bad.
const (
	OK State = "ok"
	// Unknown could not be found out, mostly for want of a permission.
	Unknown State = "unknown"
	// Warning works today, and deserves a look.
	Warning State = "warning"
	// Failed means that the gate does not do what it is there for.
	Failed State = "failed"
)

var severity = map[State]int{OK: 0, Unknown: 1, Warning: 2, Failed: 3}

// Finding is one thing that was seen.
type Finding struct {
	State State `json:"state"`
	// Seen is what was seen, in one sentence.
	Seen string `json:"seen"`
	// WayOut is what to do about it; empty when all is well.
	WayOut string `json:"wayOut,omitempty"`
}

// Check is one question with what was seen.
type Check struct {
	Name     string    `json:"name"`
	State    State     `json:"state"`
	Findings []Finding `json:"findings"`
}

// Report is the answer to all questions, in the order in which they are asked.
type Report struct {
	Checks []Check `json:"checks"`
}

// Failed reports whether any check has failed.
func (r Report) Failed() bool {
	for _, c := range r.Checks {
		if c.State == Failed {
			return true
		}
	}
	return false
}

// checkOf gives a check its worst finding's state. A check without findings would
// be one that saw nothing, which is not ok.
func checkOf(name string, findings []Finding) Check {
	c := Check{Name: name, State: Unknown, Findings: findings}
	for i, f := range findings {
		if i == 0 || severity[f.State] > severity[c.State] {
			c.State = f.State
		}
	}
	return c
}

// summed leaves out what is well where something is not, and says it in one
// sentence where all is.
func summed(findings []Finding, well string) []Finding {
	findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.State == OK })
	if len(findings) == 0 {
		return []Finding{{State: OK, Seen: well}}
	}
	return findings
}
