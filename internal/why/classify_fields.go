package why

import (
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/cel"
)

func hasCauses(s metav1.Status) bool { return s.Details != nil && len(s.Details.Causes) > 0 }

// readInvalid reads the field errors of an Invalid status, one row each. A text
// that ends with a rule's ID is a rule's, any other is the schema's: for a kind
// whose rules carry no ID the two cannot be told apart.
func readInvalid(s metav1.Status) []Row {
	if s.Reason != metav1.StatusReasonInvalid {
		return nil
	}
	if !hasCauses(s) {
		return one(Row{Layer: LayerSchema, Verdict: Deny, Message: s.Message})
	}
	return causes(s, func(r *Row) {
		if r.Layer == "" {
			r.Layer = LayerSchema
		}
	})
}

func causes(s metav1.Status, finish func(*Row)) []Row {
	rows := make([]Row, 0, len(s.Details.Causes))
	for _, c := range s.Details.Causes {
		row := fieldError(c)
		finish(&row)
		rows = append(rows, row)
	}
	return rows
}

// fieldError leaves the layer open where no rule is named.
func fieldError(c metav1.StatusCause) Row {
	row := Row{Verdict: Deny, Field: fieldOf(c.Field), Message: detail(c.Message), Source: FromServer}
	if i := strings.Index(row.Message, strictDecoding); i >= 0 { // of a patch: the whole object stands before it
		row.Field, row.Message = "", row.Message[i:]
		return row
	}
	if failure, rule, failed := cel.CutRuleError(row.Message); failed {
		row.Layer, row.Verdict, row.Message, row.Rule = LayerCRD, Error, failure, ruleOf(rule)
		return row
	}
	if m := unevaluated.FindStringSubmatch(row.Message); m != nil {
		row.Verdict, row.Rule, row.Message = Error, m[1], m[2]
		return row
	}
	if row.Rule = ruleOf(row.Message); row.Rule != "" {
		row.Layer = LayerCRD
	}
	return row
}

// fieldOf drops the placeholder of a field error without a path.
func fieldOf(path string) string {
	if path == "<nil>" {
		return ""
	}
	return path
}

// The prefixes of field errors. Those in valued print the value as well.
var (
	plain  = []string{"Forbidden", "Required value", "Invalid value", "Internal error"}
	valued = []string{"Invalid value", "Duplicate value"}
)

// detail cuts a field error's type, and the value where one is printed, if a
// text of its own is left. "Required value" alone stays as it is.
func detail(message string) string {
	kind, rest, ok := strings.Cut(message, ": ")
	if !ok {
		return message
	}
	if slices.Contains(valued, kind) {
		if said, found := afterValue(rest); found {
			return keepUnlessRule(message, said)
		}
	}
	if slices.Contains(plain, kind) {
		return keepUnlessRule(message, rest)
	}
	return message
}

// keepUnlessRule: the schema's own texts need their prefix and their value to be
// understood, a rule's text stands alone.
func keepUnlessRule(message, said string) string {
	if _, _, failed := cel.CutRuleError(said); failed || ruleOf(said) != "" || unevaluated.MatchString(said) {
		return said
	}
	return message
}

// afterValue splits `VALUE: TEXT`, where VALUE is JSON.
func afterValue(s string) (string, bool) {
	d := json.NewDecoder(strings.NewReader(s))
	var value any
	if err := d.Decode(&value); err != nil {
		return "", false
	}
	return strings.CutPrefix(s[d.InputOffset():], ": ")
}

// readOther knows the answers that no admission layer gives.
func readOther(s metav1.Status) []Row {
	switch s.Reason {
	case metav1.StatusReasonUnauthorized:
		return one(Row{Layer: LayerAuthentication, Verdict: Deny, Message: orReason(s)})
	case metav1.StatusReasonBadRequest:
		return one(Row{Layer: LayerSchema, Verdict: Deny, Message: badRequest(s.Message)})
	case metav1.StatusReasonNotFound:
		return one(notFound(s))
	case metav1.StatusReasonConflict, metav1.StatusReasonAlreadyExists, metav1.StatusReasonGone:
		return one(Row{Layer: LayerStorage, Verdict: Deny, Message: s.Message})
	}
	return nil
}

const strictDecoding = "strict decoding error: "

// badRequest cuts what comes before the decoder's own words.
func badRequest(message string) string {
	if i := strings.Index(message, strictDecoding); i >= 0 {
		return message[i:]
	}
	return message
}

// notFound: a missing namespace is noticed by an admission plugin, a missing
// object by the storage.
func notFound(s metav1.Status) Row {
	row := Row{Layer: LayerStorage, Verdict: Deny, Message: s.Message}
	if s.Details != nil && s.Details.Kind == "namespaces" {
		row.Layer = LayerAdmission
	}
	return row
}
