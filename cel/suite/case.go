package suite

import (
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/quorate/quorate/cel"
)

// Position is a place in a file; Line and Column count from 1.
type Position struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// File is one case file: the cases of one rule.
type File struct {
	Path  string
	Rule  string
	At    Position // of the rule's name
	Cases []*Case
}

// Case is one request and what is expected of it, defaults merged in.
type Case struct {
	Name string
	At   Position
	// Old, New and Patch are as written; Request completes them.
	Old, New, Patch map[string]any
	Operation       cel.Operation // empty: derived from Old, New and Patch
	Subresource     string
	User            authenticationv1.UserInfo
	Controller      bool
	DryRun          bool
	Raw             bool
	Live            map[string]any
	Allow           []Grant
	Expect          Expect
	// Warnings is nil where the case says nothing of them.
	Warnings []string
	// Fires is false where the rule is not meant to be evaluated.
	Fires bool

	source source
}

// Grant is one thing that the authorizer allows; an empty Name means any name.
type Grant struct {
	Verb        string `json:"verb"`
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
}

// Skip is the verdict of a layer that does not judge a request.
const Skip cel.Outcome = "skip"

// Expect is what a case expects: one entry for each layer it names, and Common
// for the others.
type Expect struct {
	Common LayerExpect
	Layers map[cel.Layer]LayerExpect
}

// LayerExpect is what is expected of one layer. An empty Verdict means that the
// case says nothing of the layer.
type LayerExpect struct {
	Verdict cel.Outcome
	Rule    string
	Message string
	Also    []string
}

// Of gives what is expected of a layer, the common part filled in. What no layer
// of the kind can see is skipped: CRD rules see no DELETE, a policy no parent
// behind scale.
func (e Expect) Of(layer cel.Layer, operation cel.Operation, subresource string) LayerExpect {
	blind := layer == cel.LayerCRD && operation == cel.Delete ||
		layer == cel.LayerVAP && subresource == cel.Scale
	if own, ok := e.Layers[layer]; ok {
		return own.over(e.Common)
	}
	if blind {
		return LayerExpect{Verdict: Skip}
	}
	return e.Common
}

func (l LayerExpect) over(common LayerExpect) LayerExpect {
	if l.Verdict == "" {
		l.Verdict = common.Verdict
	}
	if l.Rule == "" {
		l.Rule = common.Rule
	}
	if l.Message == "" {
		l.Message = common.Message
	}
	if l.Also == nil {
		l.Also = common.Also
	}
	return l
}
