package cel

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxMessage is what the CRD API accepts as a rule's message, in bytes.
const maxMessage = 2048

var (
	idForm    = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)
	pathForm  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*(\.[A-Za-z_][A-Za-z0-9_-]*)*$`)
	identForm = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// Validate checks what can be told from the rule files alone: names, texts, and
// that each layer can do what the rule asks of it. Expressions are compiled by
// New and CheckMinors. All problems are joined, each with its file.
func (c *Catalogue) Validate() error {
	var problems []error
	seen := map[string]*Rule{}
	for _, r := range c.Rules {
		for _, problem := range r.problems() {
			problems = append(problems, &SourceError{File: r.File, Problem: problem})
		}
		if first, ok := seen[r.ID]; ok {
			problems = append(problems, &SourceError{File: r.File,
				Problem: fmt.Sprintf("id %q is taken by %s", r.ID, first.File)})
			continue
		}
		seen[r.ID] = r
	}
	return errors.Join(append(problems, c.liveProblems()...)...)
}

// liveProblems: a live variable means the same thing in all rules of a resource,
// since it is read once a request.
func (c *Catalogue) liveProblems() []error {
	type variable struct{ resource, name string }
	var problems []error
	first := map[variable]*Rule{}
	for _, r := range c.Rules {
		for _, name := range slices.Sorted(maps.Keys(r.Live)) {
			key := variable{r.Resource, name}
			other, ok := first[key]
			if !ok {
				first[key] = r
			} else if other.Live[name] != r.Live[name] {
				problems = append(problems, &SourceError{File: r.File,
					Problem: fmt.Sprintf("live.%s reads something else in %s", name, other.File)})
			}
		}
	}
	return problems
}

func (r *Rule) problems() []string {
	return slices.Concat(r.nameProblems(), r.textProblems(), r.layerProblems(), r.scopeProblems())
}

// checks collects the problems whose condition does not hold.
type checks []string

func (c *checks) want(ok bool, format string, args ...any) {
	if !ok {
		*c = append(*c, fmt.Sprintf(format, args...))
	}
}

func (r *Rule) nameProblems() []string {
	var c checks
	name := strings.TrimSuffix(path.Base(r.File), ruleSuffix)
	c.want(idForm.MatchString(r.ID), "id %q: want lower-case words joined by dashes", r.ID)
	c.want(r.File == "" || r.ID == name, "id %q: want the file's name, %q", r.ID, name)
	c.want(strings.TrimSpace(r.Doc) != "" && oneLine(r.Doc), "doc: want one line that says what is refused")
	c.want(idForm.MatchString(r.Resource), "resource %q: want the plural name in lower case", r.Resource)
	c.want(r.Path == "" || pathForm.MatchString(r.Path), "path %q: want property names joined by dots", r.Path)
	c.want(strings.TrimSpace(r.Expression) != "", "expression: want a CEL expression")
	return c
}

func (r *Rule) textProblems() []string {
	var c checks
	suffix := "(" + r.ID + ")"
	said := strings.TrimSuffix(r.Message, " "+suffix)
	c.want(said != r.Message, "message: want it to end with %q", " "+suffix)
	c.want(strings.TrimSpace(said) == said && said != "" && !strings.HasPrefix(said, "("),
		"message: want it to begin with what was refused")
	c.want(oneLine(r.Message), "message: want one line")
	c.want(len(r.Message) <= maxMessage, "message: %d bytes, at most %d", len(r.Message), maxMessage)
	c.want(r.MessageExpression == "" || strings.Contains(r.MessageExpression, suffix),
		"messageExpression: want %q at the end of its text", suffix)
	c.want(slices.Contains(reasons, r.Reason), "reason %q: want one of %s", r.Reason, strings.Join(reasons, ", "))
	c.want(strings.HasPrefix(r.FieldPath, ".") && pathForm.MatchString(strings.TrimPrefix(r.FieldPath, ".")),
		"fieldPath %q: want property names, each after a dot", r.FieldPath)
	return c
}

// FieldValueDuplicate is a reason too, but the API server prints no message with
// it, so the user would not be told.
var reasons = []string{"FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired"}

func (r *Rule) layerProblems() []string {
	var c checks
	c.want(len(r.Layers) > 0, "layers: want at least one of crd, webhook, vap")
	c.want(known(r.Layers, LayerCRD, LayerWebhook, LayerVAP), "layers %v: want crd, webhook or vap, each once", r.Layers)
	c.want(r.Binds == BindsEveryone || r.Binds == BindsAllButController,
		"binds %q: want %s or %s", r.Binds, BindsEveryone, BindsAllButController)
	if r.In(LayerCRD) {
		c.want(r.Binds != BindsAllButController, "binds: the crd layer binds everyone")
		c.want(len(r.Subresources) == 0, "subresources: the crd layer cannot choose them")
		c.want(slices.Contains(r.RunsOn(), Update) && !slices.Contains(r.RunsOn(), Delete),
			"operations %v: the crd layer runs on UPDATE, and on CREATE unless the rule mentions oldSelf", r.Operations)
	}
	c.want(len(r.Live) == 0 || slices.Equal(r.Layers, []Layer{LayerWebhook}),
		"live: only the webhook reads the live world, so it must be the only layer")
	return c
}

func (r *Rule) scopeProblems() []string {
	var c checks
	c.want(known(r.Operations, Create, Update, Delete),
		"operations %v: want CREATE, UPDATE or DELETE, each once", r.Operations)
	c.want(known(r.Subresources, Main, Status, Scale),
		"subresources %q: want \"\", status or scale, each once", r.Subresources)
	for _, name := range slices.Sorted(maps.Keys(r.Live)) {
		c.want(identForm.MatchString(name), "live.%s: want a CEL identifier", name)
		c.want(idForm.MatchString(r.Live[name].Resource),
			"live.%s.resource %q: want the plural name in lower case", name, r.Live[name].Resource)
	}
	return c
}

func oneLine(s string) bool { return !strings.ContainsAny(s, "\r\n") }

// known reports whether each of the values is allowed and there once.
func known[T comparable](values []T, allowed ...T) bool {
	for i, v := range values {
		if !slices.Contains(allowed, v) || slices.Contains(values[:i], v) {
			return false
		}
	}
	return true
}
