package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/cel-go/common"
	"github.com/google/cel-go/parser"

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
		tree, err := parseTree(expression)
		if err != nil {
			return
		}
		tree.walk(func(n *node) {
			if n.start < 0 || n.start > n.end || n.end > len(tree.source) {
				t.Fatalf("%q: part %d:%d", expression, n.start, n.end)
			}
		})
		mustParse(t, expression, instrument(tree, conditions(tree)))
		for _, c := range changes(tree) {
			mustParse(t, expression, c.expression)
		}
	})
}

func mustParse(t *testing.T, from, text string) {
	t.Helper()
	p, err := parser.NewParser(parser.EnableOptionalSyntax(true), parser.EnableIdentEscapeSyntax(true), parser.Macros())
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
