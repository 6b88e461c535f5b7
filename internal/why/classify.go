package why

import (
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The API server names a refusing layer in the text of its answer alone. Each
// pattern is the text of Kubernetes 1.34 to 1.37.
var (
	webhookDenied = regexp.MustCompile(`^admission webhook "([^"]+)" denied the request(?:: | )(.*)$`)
	webhookNoDry  = regexp.MustCompile(`^admission webhook "([^"]+)" (does not support dry run)$`)
	webhookFailed = regexp.MustCompile(`failed calling webhook "([^"]+)"(?:: |; )(.*)$`)
	policyDenied  = regexp.MustCompile(`(ValidatingAdmissionPolicy|MutatingAdmissionPolicy) '([^']+)'(?: with binding '[^']+')? denied request: (.*)$`)
	notAllowed    = regexp.MustCompile(`User "[^"]*" cannot [^ ]+ resource .*$`)
	quotaExceeded = regexp.MustCompile(`(?:exceeded|failed) quota: ([^,:]+)[,:] .*$`)
	quotaMissing  = regexp.MustCompile(`insufficient quota to (?:match|consume).*$`)
	forbidden     = regexp.MustCompile(`^.*? is forbidden: (.*)$`)
	unevaluated   = regexp.MustCompile(`^rule ([a-z0-9-]+) could not be evaluated: (.*)$`)
	ruleID        = regexp.MustCompile(`\(([a-z][a-z0-9]*(?:-[a-z0-9]+)*)\)$`)
)

// Texts of an evaluation that failed: a refusal, but not the rule's.
const resultedIn = "resulted in error: "

var policyFailures = []string{"failed to configure policy: ", "failed to configure binding: ", "failed messageExpression: "}

// Classify reads the layer, the rule and the plain message out of an API
// server's refusal. There is at least one row; a status that fits nothing known
// is given to the layer "server", with its whole text.
func Classify(s metav1.Status) []Row {
	for _, read := range []func(metav1.Status) []Row{
		readWebhook, readPolicy, readForbidden, readInvalid, readOther,
	} {
		if rows := read(s); len(rows) > 0 {
			return rows
		}
	}
	return one(Row{Layer: LayerServer, Verdict: Error, Message: orReason(s)})
}

func one(r Row) []Row {
	r.Source = FromServer
	return []Row{r}
}

func orReason(s metav1.Status) string {
	if s.Message == "" {
		return string(s.Reason)
	}
	return s.Message
}

func readWebhook(s metav1.Status) []Row {
	if m := webhookDenied.FindStringSubmatch(s.Message); m != nil {
		return deniedBy(m[1], m[2], s)
	}
	if m := webhookNoDry.FindStringSubmatch(s.Message); m != nil {
		return one(Row{Layer: LayerWebhook, Verdict: Error, By: m[1], Message: m[2]})
	}
	if m := webhookFailed.FindStringSubmatch(s.Message); m != nil {
		return one(Row{Layer: LayerWebhook, Verdict: Error, By: m[1], Message: m[2]})
	}
	return nil
}

// deniedBy: a webhook that answers with causes speaks as the CRD does; one that
// fails answers with a server error, which is no verdict.
func deniedBy(webhook, said string, s metav1.Status) []Row {
	if hasCauses(s) {
		return causes(s, func(r *Row) { r.Layer, r.By = LayerWebhook, webhook })
	}
	row := Row{Layer: LayerWebhook, Verdict: Deny, By: webhook, Rule: ruleOf(said), Message: said}
	if s.Code >= 500 {
		row.Verdict = Error
	}
	return one(row)
}

func readPolicy(s metav1.Status) []Row {
	m := policyDenied.FindStringSubmatch(s.Message)
	if m == nil {
		return nil
	}
	row := Row{Layer: LayerVAP, Verdict: Deny, By: m[2], Rule: ruleOf(m[3]), Message: m[3]}
	if m[1] != "ValidatingAdmissionPolicy" {
		row.Layer = LayerAdmission
	}
	if failed, text := evaluationFailure(m[3]); failed {
		row.Verdict, row.Rule, row.Message = Error, "", text
	}
	return one(row)
}

// evaluationFailure tells a policy that said no from one that could not be
// evaluated, and cuts the expression that the server prints with it.
func evaluationFailure(said string) (bool, string) {
	if i := strings.LastIndex(said, resultedIn); i >= 0 && strings.HasPrefix(said, "expression '") {
		return true, said[i+len(resultedIn):]
	}
	for _, prefix := range policyFailures {
		if strings.HasPrefix(said, prefix) {
			return true, said
		}
	}
	return false, said
}

func ruleOf(message string) string {
	if m := ruleID.FindStringSubmatch(message); m != nil {
		return m[1]
	}
	return ""
}

func readForbidden(s metav1.Status) []Row {
	if s.Reason != metav1.StatusReasonForbidden {
		return nil
	}
	if m := notAllowed.FindString(s.Message); m != "" {
		return one(Row{Layer: LayerRBAC, Verdict: Deny, Message: m})
	}
	if m := quotaExceeded.FindStringSubmatch(s.Message); m != nil {
		return one(Row{Layer: LayerQuota, Verdict: Deny, By: m[1], Message: m[0]})
	}
	if m := quotaMissing.FindString(s.Message); m != "" {
		return one(Row{Layer: LayerQuota, Verdict: Deny, Message: m})
	}
	said := s.Message
	if m := forbidden.FindStringSubmatch(said); m != nil {
		said = m[1]
	}
	row := Row{Layer: LayerAdmission, Verdict: Deny, Message: said}
	if failed, text := evaluationFailure(said); failed {
		row.Verdict, row.Message = Error, text
	}
	return one(row)
}
