package cel

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// clause is one rule on its way into a policy.
//
// A rule of the CRD layer gets guards, so that it means what the CRD means:
//   - it is not judged where its node is absent or null;
//   - a transition rule, one that mentions oldSelf, is not judged where the old
//     node is absent or null, creation included;
//   - a denial by any other rule is forgiven where its node is as it was. An
//     error is not, which is why the comparison comes last. The root is never
//     forgiven: the API server cannot match up metadata, so it always differs.
//     One difference remains: the CRD takes a reordered map list for equal, a
//     policy does not.
//
// A rule without the CRD layer is taken as it is: its nodes are null where absent.
type clause struct {
	rule                *Rule
	node                nodeNames
	expression, message string
	transition, exempt  bool
	operations          []Operation
	subresources        []string
	usesOld             bool
}

func newClause(r *Rule) (clause, error) {
	node, err := nodeOf(r.Path)
	if err != nil {
		return clause{}, err
	}
	expression, errExpression := translate(r.Expression, node)
	message, errMessage := translate(r.MessageExpression, node)
	if err := errors.Join(errExpression, errMessage, r.policyProblem()); err != nil {
		return clause{}, err
	}
	inExpression, inMessage := mentionsOldSelf(r.Expression), mentionsOldSelf(r.MessageExpression)
	c := clause{
		rule: r, node: node, expression: expression, message: message,
		transition: r.In(LayerCRD) && inExpression, exempt: r.Binds == BindsAllButController,
		operations: r.RunsOn(), subresources: slices.DeleteFunc(slices.Clone(r.RunsFor()), isScale),
		usesOld: r.In(LayerCRD) || inExpression || inMessage,
	}
	switch {
	case c.transition:
		c.operations = []Operation{Update}
	case r.In(LayerCRD) && inMessage:
		return clause{}, errors.New("messageExpression mentions oldSelf, the expression does not: a CRD binds it only for rules that do")
	case r.In(LayerCRD):
		c.operations = []Operation{Create, Update}
	}
	return c, nil
}

func translate(expression string, node nodeNames) (string, error) {
	if strings.TrimSpace(expression) == "" {
		return "", nil
	}
	return rename(strings.TrimSpace(expression), node.self(), node.oldSelf())
}

// policyProblem says what keeps the rule out of any policy. Its expressions can
// be parsed.
func (r *Rule) policyProblem() error {
	if slices.ContainsFunc(r.Subresources, isScale) {
		return fmt.Errorf("subresource scale: %w", ErrNotForPolicy)
	}
	for _, expression := range []string{r.Expression, r.MessageExpression} {
		if all, err := uses(expression); err == nil && mentionsFree(all, liveVar) {
			return fmt.Errorf("variable live: %w", ErrNotForPolicy)
		}
	}
	return nil
}

func isScale(subresource string) bool { return subresource == Scale }

func mentionsOldSelf(expression string) bool {
	all, err := uses(expression)
	return err == nil && mentions(all, oldSelfVar)
}

func (c clause) policy() string {
	name := policyPrefix + c.rule.Resource
	if !slices.Contains(c.subresources, Main) {
		name += statusSuffix
	}
	if c.exempt {
		name += exemptSuffix
	}
	return name
}

func (c clause) validation(operations []Operation, subresources []string) admissionregistrationv1.Validation {
	return admissionregistrationv1.Validation{
		Expression:        c.guarded(operations, subresources),
		Message:           strings.TrimSpace(c.rule.Message),
		MessageExpression: c.message,
		Reason:            ptr.To(c.reason()),
	}
}

// reason: a policy knows two of the four reasons.
func (c clause) reason() metav1.StatusReason {
	if c.rule.Reason == "FieldValueForbidden" {
		return metav1.StatusReasonForbidden
	}
	return metav1.StatusReasonInvalid
}

// guarded puts the expression behind what must hold before it is judged. The
// last parenthesis has a line of its own, since a comment may end the expression.
func (c clause) guarded(operations []Operation, subresources []string) string {
	guards := c.guards(operations, subresources)
	if len(guards) == 0 && !c.ratchets() {
		return c.expression
	}
	out := strings.Join(append(guards, "(\n"+c.expression+"\n)"), " || ")
	if c.ratchets() {
		out += fmt.Sprintf(" ? true : %s == %s", c.node.self(), c.node.oldSelf())
	}
	return out
}

func (c clause) ratchets() bool {
	return c.rule.In(LayerCRD) && !c.transition && !c.node.root()
}

func (c clause) guards(operations []Operation, subresources []string) []string {
	var out []string
	if !c.rule.In(LayerCRD) {
		out = append(out, narrower("request.operation", operations, c.operations)...)
		return append(out, narrower(subresourceVar, subresources, c.subresources)...)
	}
	if !c.node.root() || slices.Contains(operations, Delete) {
		out = append(out, c.node.self()+" == null")
	}
	if c.transition {
		out = append(out, c.node.oldSelf()+" == null")
	}
	return out
}

// subresourceVar: the field is absent, not empty, for the object itself.
const subresourceVar = "request.?subResource.orValue('')"

// narrower lets pass what the policy matches for other rules' sake.
func narrower[T ~string](variable string, matched, wanted []T) []string {
	if !slices.ContainsFunc(matched, func(v T) bool { return !slices.Contains(wanted, v) }) {
		return nil
	}
	others := make([]string, len(wanted))
	for i, v := range wanted {
		others[i] = fmt.Sprintf("%s != %s", variable, literal(string(v)))
	}
	return []string{strings.Join(others, " && ")}
}

func (c clause) variables() []admissionregistrationv1.Variable {
	if c.node.root() {
		return nil
	}
	out := []admissionregistrationv1.Variable{c.node.variable("object")}
	if c.usesOld {
		out = append(out, c.node.variable("oldObject"))
	}
	return out
}
