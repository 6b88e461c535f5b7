package cel

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/utils/ptr"
)

// foreignID begins the ID of a CRD rule that has none; the path of its node
// follows.
const foreignID = "crd"

// crdRule is one compiled x-kubernetes-validations entry.
type crdRule struct {
	// id is what findings name; the foreign rules of a node share it. The key is
	// the rule's own.
	id, key string
	source  apiextensionsv1.ValidationRule
	// program gives the verdict; message is nil without messageExpression.
	program, message celgo.Program
	// field is the rule's fieldPath in the form that field errors print.
	field string
	// usesOldSelf makes it a transition rule, optional one that runs all the same
	// without an old value.
	usesOldSelf, optional bool
}

// said is how errors name the rule.
func (r *crdRule) said() string {
	if r.source.Message != "" {
		return strings.TrimSpace(r.source.Message)
	}
	return strings.TrimSpace(r.source.Rule)
}

// fallback is the message of a denial whose messageExpression is absent or fails.
func (r *crdRule) fallback() string {
	if r.source.Message != "" {
		return strings.TrimSpace(r.source.Message)
	}
	return "failed rule: " + strings.TrimSpace(r.source.Rule)
}

// nodeCompiler compiles the rules of one schema node. The API server's own
// Compile does it at first; its environment is made anew each time, so single
// rules, for mutants and explanations, use one that is kept.
type nodeCompiler struct {
	schema   *schema.Structural // with the node's rules
	declType *apiservercel.DeclType
	path     string

	envOnce, optionalOnce sync.Once
	typed, optional       *celgo.Env
	envErr                error
}

// compileAll compiles all of the node's rules; each that fails is an error.
func (c *nodeCompiler) compileAll() ([]crdRule, error) {
	results, err := schemacel.Compile(c.schema, c.declType, celconfig.PerCallLimit, baseEnvSet(), schemacel.StoredExpressionsEnvLoader())
	if err != nil {
		return nil, fmt.Errorf("compile rules at %q: %w", c.path, err)
	}
	rules := make([]crdRule, 0, len(results))
	var problems []error
	for i, result := range results {
		rule := c.newRule(c.schema.XValidations[i])
		problems = append(problems, c.failed(rule, resultError(result)))
		rule.program, rule.message, rule.usesOldSelf = result.Program, result.MessageExpression, result.UsesOldSelf
		rule.field, err = c.fieldPath(rule.source)
		problems = append(problems, c.failed(rule, err))
		if result.Program != nil { // an empty rule has none
			rules = append(rules, rule)
		}
	}
	setKeys(rules)
	return rules, errors.Join(problems...)
}

// resultError: a nil pointer in an error would not be nil.
func resultError(result schemacel.CompilationResult) error {
	switch {
	case result.Error != nil:
		return result.Error
	case result.MessageExpressionError != nil:
		return result.MessageExpressionError
	}
	return nil
}

// compileOne compiles a rule as compileAll does, in the kept environment.
func (c *nodeCompiler) compileOne(source apiextensionsv1.ValidationRule) (crdRule, error) {
	rule := c.newRule(source)
	env, err := c.env(rule.optional)
	if err != nil {
		return rule, err
	}
	program, checked, err := compileExpression(env, source.Rule, celgo.BoolType)
	if err != nil {
		return rule, c.failed(rule, err)
	}
	rule.program, rule.usesOldSelf = program, referencesOldSelf(checked)
	if source.MessageExpression != "" {
		if rule.message, _, err = compileExpression(env, source.MessageExpression, celgo.StringType); err != nil {
			return rule, c.failed(rule, fmt.Errorf("messageExpression: %w", err))
		}
	}
	rule.field, err = c.fieldPath(source)
	return rule, c.failed(rule, err)
}

func (c *nodeCompiler) newRule(source apiextensionsv1.ValidationRule) crdRule {
	return crdRule{id: ruleID(source, c.path), source: source, optional: ptr.Deref(source.OptionalOldSelf, false)}
}

// ruleID is what ends the message in parentheses, or else names the node.
func ruleID(source apiextensionsv1.ValidationRule, path string) string {
	if match := trailingID.FindStringSubmatch(strings.TrimSpace(source.Message)); match != nil {
		return match[1]
	}
	if path == "" {
		return foreignID
	}
	return foreignID + "." + path
}

// setKeys tells the rules of a node apart: those that share an ID are numbered
// from the second one on.
func setKeys(rules []crdRule) {
	count := map[string]int{}
	for i := range rules {
		rules[i].key = rules[i].id
		if count[rules[i].id]++; count[rules[i].id] > 1 {
			rules[i].key = fmt.Sprintf("%s#%d", rules[i].id, count[rules[i].id])
		}
	}
}

func (c *nodeCompiler) failed(rule crdRule, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("compile rule %s at %q: %w", rule.id, c.path, err)
}

func (c *nodeCompiler) fieldPath(source apiextensionsv1.ValidationRule) (string, error) {
	if source.FieldPath == "" {
		return "", nil
	}
	path, _, err := schemacel.ValidFieldPath(source.FieldPath, c.schema)
	if err != nil {
		return "", fmt.Errorf("fieldPath %s: %w", source.FieldPath, err)
	}
	return path.String(), nil
}
