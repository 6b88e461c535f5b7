package suite

import (
	"slices"
	"strings"
	"testing"
)

func TestTreeExtents(t *testing.T) {
	tests := map[string][]string{
		"a && (b || c)":            {"a && (b || c)", "a", "b || c", "b", "c"},
		"(a || b) && (c || d)":     {"(a || b) && (c || d)", "a || b", "a", "b", "c || d", "c", "d"},
		"((a) || b) == c":          {"((a) || b) == c", "(a) || b", "a", "b", "c"},
		"has(self.a.b)":            {"has(self.a.b)", "self.a.b", "self.a", "self"},
		"!has (x.y)":               {"!has (x.y)", "has (x.y)", "x.y", "x"},
		"x.exists(c, c.t == 'A')":  {"x.exists(c, c.t == 'A')", "x", "c", "c.t == 'A'", "c.t", "c", "'A'"},
		"a.check('p').allowed()":   {"a.check('p').allowed()", "a.check('p')", "a", "'p'"},
		"x[1].y":                   {"x[1].y", "x[1]", "x", "1"},
		"p ? q : (r)":              {"p ? q : (r)", "p", "q", "r"},
		"f(')', \"(\\\"\", r'\\')": {"f(')', \"(\\\"\", r'\\')", "')'", "\"(\\\"\"", "r'\\'"},
		"a // (\n&& b":             {"a // ( && b", "a", "b"},
		"self.?a.?b.orValue([])":   {"self.?a.?b.orValue([])", "self.?a.?b", "self.?a", "self", "a", "b", "[]"},
		"a == '→é' && b":           {"a == '→é' && b", "a == '→é'", "a", "'→é'", "b"},
		"{'k': v}.k - -1":          {"{'k': v}.k - -1", "{'k': v}.k", "{'k': v}", "'k'", "v", "-1"},
		"self.`a-b` == x":          {"self.`a-b` == x", "self.`a-b`", "self", "x"},
		"-(a + b) in [c, '''x''']": {"-(a + b) in [c, '''x''']", "-(a + b)", "a + b", "a", "b", "[c, '''x''']", "c", "'''x'''"},
	}
	for expression, want := range tests {
		t.Run(expression, func(t *testing.T) {
			tree, err := parseTree(expression)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			tree.walk(func(n *node) { got = append(got, tree.text(n)) })
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}
