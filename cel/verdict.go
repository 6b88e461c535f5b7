package cel

// Outcome is a verdict's value. There are three: a rule that fails to evaluate
// is neither an allowance nor a denial, it denies and is shown as what it is.
type Outcome string

const (
	// Allow lets the request pass.
	Allow Outcome = "allow"
	// Deny refuses it: at least one rule said no, none failed.
	Deny Outcome = "deny"
	// RuleError refuses it because at least one rule could not be evaluated.
	RuleError Outcome = "error"
)

// Finding is one rule's objection.
type Finding struct {
	// Rule is the rule's ID.
	Rule string `json:"rule"`
	// Outcome is Deny or RuleError.
	Outcome Outcome `json:"outcome"`
	// Message is what the user is told, without any layer's prefix.
	Message string `json:"message"`
	// Field is the absolute path of the field in question, e.g. spec.replicas.
	Field string `json:"field,omitempty"`
	// Reason is the rule's field-error reason.
	Reason string `json:"reason,omitempty"`
}

// Verdict is what a layer says of a request.
type Verdict struct {
	Outcome Outcome `json:"outcome"`
	// Findings lists every objection, in catalogue order.
	Findings []Finding `json:"findings,omitempty"`
	// Warnings are hints of an allowed request, e.g. an even cluster size.
	Warnings []string `json:"warnings,omitempty"`
}

// VerdictOf sums findings up: an error outweighs a denial.
func VerdictOf(findings []Finding) Verdict {
	v := Verdict{Outcome: Allow, Findings: findings}
	for _, f := range findings {
		if f.Outcome == RuleError {
			v.Outcome = RuleError
			return v
		}
		v.Outcome = Deny
	}
	return v
}
