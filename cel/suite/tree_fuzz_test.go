package suite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/cel-go/common"

	"github.com/quorate/quorate/cel"
)

// Whatever parses can be watched and changed, and the results parse.
func FuzzTree(f *testing.F) {
	for _, seed := range []string{
		"a && (b || c)", "has(self.a) ? [1, 2][0] : {'k': -1}.k", "l.exists(x, x in ['p'])", "self.?a[?0].orValue('→')",
		"r'\\' == \"\\\"\" // '(\n|| b'''\n)'''  == x", "a.`b-c`", "!(!(a))", "T{f: 1}.f > 1u", "((a)) && ((b)) || (((c)))", "1.5e3 < x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if tree, err := parseTree(expression); err == nil {
			holds(t, expression, tree)
		}
	})
}

// holds checks what must be true of every expression.
func holds(t *testing.T, expression string, tree *tree) {
	t.Helper()
	tree.walk(func(n *node) {
		if n.start < 0 || n.start > n.end || n.end > len(tree.source) {
			t.Fatalf("%q: part %d:%d", expression, n.start, n.end)
		}
	})
	mustParse(t, expression, instrument(tree, conditions(tree)))
	for _, c := range changes(tree) {
		mustParse(t, expression, c.expression)
	}
}

// Brackets, comments and strings in all combinations; the seed is fixed.
func TestTreeReadsGeneratedExpressions(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for range 300 {
		expression := generated(r, 1+r.IntN(3))
		tree, err := parseTree(expression)
		if err != nil {
			t.Fatal(err)
		}
		holds(t, expression, tree)
		tree.walk(func(n *node) { mustParse(t, expression, tree.raw(n)) })
	}
}

var (
	leaves = []string{"a", "self.b", "oldSelf.`c-d`", "-2", `'x\'→'`, "true", "l[0]", `r'\'`, `"""a"b"""`, "2u", "has(self.q)", "self.?z"}
	forms  = []string{
		"(%s) && (%s)", "(%s || %s)", "%s && %s && %s", "!(%s)", "(%s ? %s : %s)", "l.exists(x, %s)", "l.map(x, %s, %s).size() > 0",
		"(%s) == (%s)", "(%s) in [%s, %s]", "{'k': %s}.k", "f(%s, %s).g(%s)", "(%s) <= (%s)", "%s || %s || %s",
	}
)

func generated(r *rand.Rand, depth int) string {
	if depth <= 0 {
		return leaves[r.IntN(len(leaves))]
	}
	form := forms[r.IntN(len(forms))]
	var parts []any
	for range strings.Count(form, "%s") {
		part := generated(r, depth-1-r.IntN(2))
		switch r.IntN(8) {
		case 0, 1:
			part = "( " + part + ")"
		case 2:
			part += " // (c'\n"
		}
		parts = append(parts, part)
	}
	return fmt.Sprintf(form, parts...)
}

func mustParse(t *testing.T, from, text string) {
	t.Helper()
	p, err := macroless()
	if err != nil {
		t.Fatal(err)
	}
	if _, issues := p.Parse(common.NewTextSource(text)); len(issues.GetErrors()) > 0 {
		t.Errorf("%q became %q: %s", from, text, issues.ToDisplayString())
	}
}

// The product's own rules are what the tree has to read above all.
func TestTreeReadsEveryRule(t *testing.T) {
	catalogue, err := cel.Load(os.DirFS(filepath.Join("..", "rules")), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range catalogue.Rules {
		tree, err := parseTree(rule.Expression)
		if err != nil {
			t.Fatalf("%s: %v", rule.ID, err)
		}
		mustParse(t, rule.ID, instrument(tree, conditions(tree)))
		for _, leaf := range conditions(tree) {
			mustParse(t, rule.ID, tree.text(leaf))
		}
		for _, c := range changes(tree) {
			mustParse(t, rule.ID, c.expression)
			if strings.TrimSpace(c.expression) == strings.TrimSpace(rule.Expression) {
				t.Errorf("%s: %s %s changes nothing", rule.ID, c.operator, tree.text(c.at))
			}
		}
	}
}
