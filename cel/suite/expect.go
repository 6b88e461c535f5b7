package suite

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/quorate/quorate/cel"
)

var verdicts = []cel.Outcome{cel.Allow, cel.Deny, cel.RuleError, Skip}

var layers = []cel.Layer{cel.LayerCRD, cel.LayerWebhook, cel.LayerVAP}

func readExpect(value any, message, rule string, src source) (Expect, error) {
	if value == nil {
		return Expect{}, src.errorf(src.position(src.own), "expect: a case needs an expected verdict")
	}
	r := expectReader{src: src}
	expect := Expect{Layers: map[cel.Layer]LayerExpect{}}
	expect.Common = r.layer(value, true, "expect")
	if expect.Common.Message == "" {
		expect.Common.Message = message
	}
	if expect.Common.Rule == "" {
		expect.Common.Rule = rule
	}
	fields, _ := value.(map[string]any)
	for _, layer := range layers {
		if own, ok := fields[string(layer)]; ok {
			expect.Layers[layer] = r.layer(own, false, "expect", string(layer))
		}
	}
	r.requireMessages(expect)
	return expect, errors.Join(r.problems...)
}

type expectReader struct {
	src      source
	problems []error
}

func (r *expectReader) problem(path []string, format string, args ...any) {
	r.problems = append(r.problems, r.src.errorf(r.src.at(path...), format, args...))
}

func (r *expectReader) layer(value any, common bool, path ...string) LayerExpect {
	if fields, ok := value.(map[string]any); ok {
		return r.fields(fields, common, path)
	}
	return LayerExpect{Verdict: r.verdict(value, path)}
}

func (r *expectReader) fields(fields map[string]any, common bool, path []string) LayerExpect {
	var l LayerExpect
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		value := fields[name]
		at := append(slices.Clone(path), name)
		switch {
		case name == "verdict":
			l.Verdict = r.verdict(value, at)
		case name == "rule":
			l.Rule = r.text(value, at)
		case name == "message":
			l.Message = r.text(value, at)
		case name == "also":
			l.Also = r.texts(value, at)
		case common && slices.Contains(layers, cel.Layer(name)):
		default:
			r.problem(at, "unknown field %q", joined(at))
		}
	}
	return l
}

func (r *expectReader) verdict(value any, path []string) cel.Outcome {
	verdict := cel.Outcome(text(value))
	if !slices.Contains(verdicts, verdict) {
		r.problem(path, "%s: %v is no verdict; want allow, deny, error or skip", joined(path), value)
	}
	return verdict
}

func (r *expectReader) text(value any, path []string) string {
	s, ok := value.(string)
	if !ok {
		r.problem(path, "%s: want a string", joined(path))
	}
	return s
}

func (r *expectReader) texts(value any, path []string) []string {
	list, ok := value.([]any)
	if !ok {
		r.problem(path, "%s: want a list", joined(path))
	}
	out := []string{}
	for _, item := range list {
		out = append(out, r.text(item, path))
	}
	return out
}

// requireMessages refuses an expected objection without its exact text: a rule
// error would pass for a denial.
func (r *expectReader) requireMessages(e Expect) {
	objects := func(l LayerExpect) bool { return l.Verdict == cel.Deny || l.Verdict == cel.RuleError }
	if objects(e.Common) && e.Common.Message == "" {
		r.problem([]string{"expect"}, "message: %s needs the exact text", e.Common.Verdict)
		return
	}
	for _, layer := range layers {
		own, ok := e.Layers[layer]
		if whole := own.over(e.Common); ok && objects(whole) && whole.Message == "" {
			r.problem([]string{"expect", string(layer)}, "message: %s needs the exact text", whole.Verdict)
		}
	}
}

func joined(path []string) string {
	out := path[0]
	for _, step := range path[1:] {
		out += "." + step
	}
	return out
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// texts gives nil for what is no list, and an empty list for an empty one.
func texts(value any) []string {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	out := make([]string, len(list))
	for i, item := range list {
		out[i] = fmt.Sprint(item)
	}
	return out
}

func grants(value any) []Grant {
	list, _ := value.([]any)
	var out []Grant
	for _, item := range list {
		g, _ := item.(map[string]any)
		out = append(out, Grant{
			Verb: text(g["verb"]), Group: text(g["group"]), Resource: text(g["resource"]),
			Subresource: text(g["subresource"]), Namespace: text(g["namespace"]), Name: text(g["name"]),
		})
	}
	return out
}
