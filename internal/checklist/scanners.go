package checklist

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// scanGo reads comments, the first argument of each Run call, and the values of
// fields called name in test tables.
func scanGo(file string, src []byte) ([]Cover, []Fault) {
	c := &collect{file: file}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, []Fault{{file, 1, "does not parse: " + err.Error()}}
	}
	line := func(n ast.Node) int { return fset.Position(n.Pos()).Line }
	for _, group := range parsed.Comments {
		for _, comment := range group.List {
			text := strings.TrimSuffix(strings.TrimLeft(comment.Text, "/*"), "*/")
			c.note(line(comment), testAround(parsed, comment), text)
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if name, ok := nameIn(n); ok {
			c.name(line(n), testAround(parsed, n), name)
		}
		return true
	})
	return c.covers, c.faults
}

// testAround is the test function that a node stands in or documents.
func testAround(file *ast.File, n ast.Node) string {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Test") && !strings.HasPrefix(f.Name.Name, "Fuzz") {
			continue
		}
		from := f.Pos()
		if f.Doc != nil {
			from = f.Doc.Pos()
		}
		if from <= n.Pos() && n.End() <= f.End() {
			return f.Name.Name
		}
	}
	return ""
}

func nameIn(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Run" && len(n.Args) > 0 {
			return literal(n.Args[0])
		}
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && strings.EqualFold(key.Name, "name") {
			return literal(n.Value)
		}
	}
	return "", false
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

var (
	yamlComment = regexp.MustCompile(`(?:^|\s)#\s*(covers:.*)$`)
	yamlName    = regexp.MustCompile(`^[-\s]*name:\s*['"]?(.*)$`)
)

// scanYAML reads comments and the values of keys called name, line by line, so
// that a file with a mistake in it is read all the same.
func scanYAML(file string, src []byte) ([]Cover, []Fault) {
	c := &collect{file: file}
	for i, raw := range bytes.Split(src, []byte("\n")) {
		if m := yamlComment.FindSubmatch(raw); m != nil {
			c.note(i+1, "", string(m[1]))
		}
		if m := yamlName.FindSubmatch(raw); m != nil {
			c.name(i+1, "", string(m[1]))
		}
	}
	return c.covers, c.faults
}
