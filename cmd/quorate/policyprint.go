package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/suite"
)

// page prints sections of text.
type page struct{ *bufio.Writer }

// line writes to a buffer, whose error Flush gives.
func (p page) line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// block prints a heading and a text that keeps its lines, moved to the right.
func (p page) block(heading, text string) {
	p.line("\n%s", heading)
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		p.line("  %s", line)
	}
}

func printExplanation(w io.Writer, group string, told explanation) error {
	p := page{bufio.NewWriter(w)}
	r := &told.Rule
	p.line("%s\n%s\n", r.ID, r.Doc)
	resource := r.Resource + "." + group
	if r.Path != "" {
		resource += ", node " + r.Path
	}
	p.line("Resource  %s", resource)
	p.line("Judged    %s", judgedOn(r))
	p.line("Binds     %s", r.Binds)
	p.line("Answers   %s at %s", r.Reason, strings.TrimPrefix(r.Path+r.FieldPath, "."))
	p.block("Allowed when", r.Expression)
	p.block("Message", r.Message)
	if r.MessageExpression != "" {
		p.block("Message, where it can be told better", r.MessageExpression)
	}
	p.layers(told.Layers)
	if told.Explained != nil {
		p.verdicts(told.Verdicts)
		p.line("\nDecided by")
		p.tree(told.Explanation, 0)
	}
	return p.Flush()
}

func (p page) layers(layers []layerNotes) {
	p.line("\nLayers")
	for _, l := range layers {
		enforced := "yes"
		if !l.Enforced {
			enforced = "no"
		}
		p.line("  %-8s %-4s %s", l.Layer, enforced, strings.Join(l.Notes, "; "))
	}
}

func (p page) verdicts(verdicts []suite.LayerVerdict) {
	p.line("\nVerdicts")
	for _, v := range verdicts {
		p.line("  %-8s %s", v.Layer, v.Verdict.Outcome)
		for _, f := range v.Verdict.Findings {
			p.line("           %s by %s: %s", f.Outcome, f.Rule, f.Message)
		}
	}
}

// How much of a value a line of the tree shows, and of a source whose parts
// follow, in runes.
const (
	maxValue  = 40
	maxSource = 100
)

// tree prints a sub-expression a line, * before those that decided.
func (p page) tree(e *cel.Explanation, depth int) {
	mark := " "
	if e.Decided {
		mark = "*"
	}
	value := e.Value
	if value == "" {
		value = "not evaluated"
	}
	where := ""
	if e.Field != "" {
		where = " at " + e.Field
	}
	source := oneLine(e.Source)
	if len(e.Children) > 0 {
		source = shorten(source, maxSource)
	}
	p.line("%s %s%s = %s%s", mark, strings.Repeat("  ", depth), source, shorten(oneLine(value), maxValue), where)
	for _, child := range e.Children {
		p.tree(child, depth+1)
	}
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}
