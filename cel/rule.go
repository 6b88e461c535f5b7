package cel

import (
	"slices"
)

// Layer names a place where a rule is enforced.
type Layer string

// The layers, in the order in which the API server asks them.
const (
	// LayerCRD is x-kubernetes-validations in the generated CRD. It binds every
	// requester, sees no DELETE and no requester.
	LayerCRD Layer = "crd"
	// LayerWebhook is the fail-closed validating webhook; it sees everything.
	LayerWebhook Layer = "webhook"
	// LayerVAP is the generated ValidatingAdmissionPolicy. It cannot see the
	// parent of a scale request, nor the live world.
	LayerVAP Layer = "vap"
)

// Binding says whom a rule binds.
type Binding string

const (
	// BindsEveryone is the only binding that a CRD rule can have.
	BindsEveryone Binding = "everyone"
	// BindsAllButController leaves out the controller's own identity.
	BindsAllButController Binding = "all-but-controller"
)

// Operation is an admission operation, as AdmissionReview spells it.
type Operation string

// The operations a rule can name.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Subresources that a rule can name; Main is the object itself.
const (
	Main   = ""
	Status = "status"
	Scale  = "scale"
)

// LiveRead is something of the live world that the webhook reads, uncached,
// before a rule is judged. The result is bound to live.NAME: the object, or null
// when it does not exist; a list when Name is empty.
type LiveRead struct {
	// Resource is the plural name within the catalogue's API group.
	Resource string `json:"resource"`
	// Name is a CEL expression over self, oldSelf and request that gives the
	// object's name in the request's namespace. Empty lists the namespace.
	Name string `json:"name,omitempty"`
}

// Rule is one rule file.
type Rule struct {
	// ID is the file's name without extension, in lower-case words and dashes.
	ID string `json:"id"`
	// Doc is one line for people: what the rule refuses.
	Doc string `json:"doc"`
	// Resource is the plural name within the catalogue's API group, e.g. etcds.
	Resource string `json:"resource"`
	// Path is the schema node the rule is anchored at, dots between properties;
	// empty is the root.
	Path string `json:"path,omitempty"`
	// Expression is true when the request is allowed. It sees self and oldSelf,
	// the node's new and old value; rules without the CRD layer also see
	// request, authorizer and (webhook only) live.
	Expression string `json:"expression"`
	// Message is the static text; it ends with the rule's ID in parentheses.
	Message string `json:"message"`
	// MessageExpression gives a better text from the same variables; where it
	// fails, Message is used.
	MessageExpression string `json:"messageExpression,omitempty"`
	// Reason is a CRD field-error reason: FieldValueInvalid, FieldValueForbidden,
	// FieldValueRequired or FieldValueDuplicate.
	Reason string `json:"reason"`
	// FieldPath is the field that a denial points at, relative to Path, with a
	// leading dot.
	FieldPath string `json:"fieldPath"`
	// Layers lists where the rule is enforced.
	Layers []Layer `json:"layers"`
	// Binds says whom the rule binds.
	Binds Binding `json:"binds"`
	// Operations default to CREATE and UPDATE; a rule over oldSelf is skipped on
	// CREATE, as the API server skips transition rules.
	Operations []Operation `json:"operations,omitempty"`
	// Subresources default to the object itself, and for a rule of the CRD layer
	// to status and scale besides.
	Subresources []string `json:"subresources,omitempty"`
	// Live lists what the webhook reads before it judges, by variable name.
	Live map[string]LiveRead `json:"live,omitempty"`

	// File is where the rule was read from.
	File string `json:"-"`
}

// In reports whether the rule is enforced in the layer.
func (r *Rule) In(l Layer) bool { return slices.Contains(r.Layers, l) }
