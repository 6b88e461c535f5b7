package suite

import (
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/quorate/quorate/cel"
)

// placer turns a place in a rule's expression into one in the rule's file.
type placer struct {
	file string
	node *yaml.Node // the expression's value
	// indent is that of a literal block's text.
	indent int
}

func newPlacer(fsys fs.FS, r *cel.Rule) *placer {
	p := &placer{file: r.File}
	data, err := fs.ReadFile(fsys, r.File)
	if err != nil {
		return p
	}
	_, p.node = child(parseNode(data), "expression")
	if p.node == nil || p.node.Style != yaml.LiteralStyle {
		return p
	}
	lines := strings.Split(string(data), "\n")
	for _, line := range lines[min(p.node.Line, len(lines)):] {
		if text := strings.TrimLeft(line, " "); text != "" {
			p.indent = len(line) - len(text)
			break
		}
	}
	return p
}

// position is exact for literal blocks and for text on one line. A folded block
// does not keep its lines, so all of it is at its beginning.
func (p *placer) position(line, column int) Position {
	switch {
	case p.node == nil:
		return Position{File: p.file, Line: 1, Column: 1}
	case p.node.Style == yaml.LiteralStyle:
		return Position{File: p.file, Line: p.node.Line + line, Column: p.indent + column}
	case p.node.Style == yaml.FoldedStyle:
		return Position{File: p.file, Line: p.node.Line, Column: p.node.Column}
	case p.node.Style == yaml.SingleQuotedStyle || p.node.Style == yaml.DoubleQuotedStyle:
		column++
	}
	return Position{File: p.file, Line: p.node.Line, Column: p.node.Column + column - 1}
}
