package why

import "github.com/quorate/quorate/cel"

// Layer is a place where a request can end, in the order in which an API server
// asks them.
type Layer string

// The layers.
const (
	// LayerAuthentication is the server's question who is asking.
	LayerAuthentication Layer = "authentication"
	// LayerRBAC is authorization, of an impersonation too.
	LayerRBAC Layer = "rbac"
	// LayerAdmission is any admission plugin that has no layer of its own here.
	LayerAdmission Layer = "admission"
	// LayerSchema is decoding and structural validation.
	LayerSchema Layer = "schema"
	// LayerCRD is the CRD's validation rules.
	LayerCRD Layer = "crd"
	// LayerVAP is ValidatingAdmissionPolicy, which is asked before webhooks.
	LayerVAP Layer = "vap"
	// LayerWebhook is admission webhooks.
	LayerWebhook Layer = "webhook"
	// LayerQuota is ResourceQuota.
	LayerQuota Layer = "quota"
	// LayerStorage is the object's existence and version.
	LayerStorage Layer = "storage"
	// LayerServer is a server that failed to judge at all.
	LayerServer Layer = "server"
)

// Outcome is what a layer said.
type Outcome string

// The outcomes.
const (
	Allow Outcome = "allow"
	Deny  Outcome = "deny"
	// Error refuses too: the layer could not be evaluated.
	Error Outcome = "error"
	// NotReached is a layer behind the one that refused, with nothing to compute.
	NotReached Outcome = "not reached"
	// Unknown is a layer that could not be computed for want of a read.
	Unknown Outcome = "unknown"
)

// Source says who gave a verdict.
type Source string

// The sources.
const (
	// FromServer is the API server's own answer to the dry run.
	FromServer Source = "server"
	// Computed is a verdict of this program.
	Computed Source = "computed"
)

// Row is one layer's verdict, or one of its objections.
type Row struct {
	Layer   Layer   `json:"layer"`
	Verdict Outcome `json:"verdict"`
	// Rule is the ID of the rule that objects.
	Rule string `json:"rule,omitempty"`
	// By names the webhook, the policy or the quota that objects.
	By string `json:"by,omitempty"`
	// Field is the path of the field in question, e.g. spec.replicas.
	Field string `json:"field,omitempty"`
	// Message is what the user is told, without the layer's prefix.
	Message string `json:"message,omitempty"`
	Source  Source `json:"source"`
}

// Case is what was found of one change.
type Case struct {
	// Object is resource.group/name, as kubectl prints it.
	Object      string        `json:"object"`
	Namespace   string        `json:"namespace,omitempty"`
	Operation   cel.Operation `json:"operation"`
	Subresource string        `json:"subresource,omitempty"`
	// User is who asked, as the server sees it.
	User string `json:"user,omitempty"`
	// Verdict is the server's.
	Verdict Outcome `json:"verdict"`
	Rows    []Row   `json:"layers"`
	// Warnings are the server's hints.
	Warnings []string `json:"warnings,omitempty"`
	// Notes say what limits the computed rows.
	Notes []string `json:"notes,omitempty"`
}

// Report holds one case for each object that was asked about.
type Report struct {
	Cases []Case `json:"cases"`
}

// Refused reports whether the server refused any of the changes.
func (r Report) Refused() bool {
	for _, c := range r.Cases {
		if c.Verdict != Allow {
			return true
		}
	}
	return false
}
