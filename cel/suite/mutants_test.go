package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	tests := map[string][]string{
		"self.a == oldSelf.a": {
			"self.a == oldSelf.a | compare != | self.a != oldSelf.a",
			"self.a | swap-self oldSelf | oldSelf.a == oldSelf.a",
			"oldSelf.a | swap-self self | self.a == self.a",
		},
		"a < 1": {
			"a < 1 | compare <= | a <= 1",
			"a < 1 | compare > | a > 1",
			"a < 1 | compare >= | a >= 1",
			"1 | constant 2 | a < 2",
			"1 | constant 0 | a < 0",
		},
		"has(a.b) && c || !d": {
			"has(a.b) && c | drop-operand | !d",
			"has(a.b) | drop-has | true && c || !d",
			"has(a.b) | negate | !(has(a.b)) && c || !d",
			"c | connect || before | has(a.b) || c || !d",
			"c | drop-operand | has(a.b) || !d",
			"c | negate | has(a.b) && !(c) || !d",
			"!d | connect && before | has(a.b) && c && !d",
			"!d | drop-operand | has(a.b) && c",
			"!d | drop-not | has(a.b) && c || d",
		},
		"a && (b && c)": {
			"a | drop-operand | (b && c)",
			"a | negate | !(a) && (b && c)",
			"b | connect || before | a || (b && c)",
			"b | drop-operand | a && (c)",
			"b | negate | a && (!(b) && c)",
			"c | connect || before | a && (b || c)",
			"c | drop-operand | a && (b)",
			"c | negate | a && (b && !(c))",
		},
		"a // (why\n && (b || (c)) && d": {
			"a | drop-operand | (b || (c)) && d",
			"a | negate | !(a) // (why\n && (b || (c)) && d",
			"b || (c) | connect || before | a // (why\n || (b || (c)) && d",
			"b || (c) | drop-operand | a // (why\n && d",
			"b | drop-operand | a // (why\n && ((c)) && d",
			"b | negate | a // (why\n && (!(b) || (c)) && d",
			"c | connect && before | a // (why\n && (b && (c)) && d",
			"c | drop-operand | a // (why\n && (b) && d",
			"c | negate | a // (why\n && (b || (!(c))) && d",
			"d | connect || before | a // (why\n && (b || (c)) || d",
			"d | drop-operand | a // (why\n && (b || (c))",
			"d | negate | a // (why\n && (b || (c)) && !(d)",
		},
		"l.exists(x, x in ['p', 'q'])": {
			"l.exists(x, x in ['p', 'q']) | quantifier all | l.all(x, x in ['p', 'q'])",
			"l.exists(x, x in ['p', 'q']) | negate | !(l.exists(x, x in ['p', 'q']))",
			"x in ['p', 'q'] | negate | l.exists(x, !(x in ['p', 'q']))",
			"'p' | drop-element | l.exists(x, x in ['q'])",
			"'p' | constant 'p~' | l.exists(x, x in ['p~', 'q'])",
			"'q' | drop-element | l.exists(x, x in ['p'])",
			"'q' | constant 'q~' | l.exists(x, x in ['p', 'q~'])",
		},
		"p ? true : self.?q.orValue(false)": {
			"p ? true : self.?q.orValue(false) | swap-branches | ((p) ? (self.?q.orValue(false)) : (true))",
			"p | negate | !(p) ? true : self.?q.orValue(false)",
			"true | constant false | p ? false : self.?q.orValue(false)",
			"self | swap-self oldSelf | p ? true : oldSelf.?q.orValue(false)",
			"self.?q.orValue(false) | negate | p ? true : !(self.?q.orValue(false))",
			"false | constant true | p ? true : self.?q.orValue(true)",
		},
	}
	for expression, want := range tests {
		t.Run(expression, func(t *testing.T) {
			tree, err := parseTree(expression)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, c := range changes(tree) {
				what := strings.TrimSpace(c.operator + " " + c.to)
				got = append(got, fmt.Sprintf("%s | %s | %s", tree.text(c.at), what, c.expression))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

func TestConditions(t *testing.T) {
	tests := map[string][]string{
		"a":                         {"a"},
		"true":                      nil,
		"!(a && b) || c == d":       {"a", "b", "c == d"},
		"p ? a : b":                 {"p", "a", "b"},
		"x == (p ? 1 : 2)":          {"x == (p ? 1 : 2)", "p"},
		"l.exists(c, c.x && c.y)":   {"l.exists(c, c.x && c.y)", "c.x", "c.y"},
		"l.filter(c, c.x) == m":     {"l.filter(c, c.x) == m", "c.x"},
		"l.map(c, c.x, c.y).size()": {"l.map(c, c.x, c.y).size()", "c.x"},
		"has(a.b) && 1 in l":        {"has(a.b)", "1 in l"},
		"m.all(k, v, k == v.k)":     {"m.all(k, v, k == v.k)", "k == v.k"},
	}
	for expression, want := range tests {
		t.Run(expression, func(t *testing.T) {
			tree, err := parseTree(expression)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, leaf := range conditions(tree) {
				got = append(got, tree.text(leaf))
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestInstrument(t *testing.T) {
	tree, err := parseTree("(a && l.exists(c, !c.x)) || p ? q == 1 : (r)")
	if err != nil {
		t.Fatal(err)
	}
	got := instrument(tree, conditions(tree))
	want := "(observedCondition(0, a) && observedCondition(1, l.exists(c, !observedCondition(2, c.x)))) || " +
		"observedCondition(3, p) ? observedCondition(4, q == 1) : (observedCondition(5, r))"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
