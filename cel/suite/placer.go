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
	// lines are the file's, for a block; indent is that of the block's text.
	lines  []string
	indent int
}

func newPlacer(fsys fs.FS, r *cel.Rule) *placer {
	p := &placer{file: r.File}
	data, err := fs.ReadFile(fsys, r.File)
	if err != nil {
		return p
	}
	if _, p.node = child(parseNode(data), "expression"); p.node == nil || !p.isBlock() {
		return p
	}
	lines := strings.Split(string(data), "\n")
	p.lines = lines[min(p.node.Line, len(lines)):]
	for _, line := range p.lines {
		if text := strings.TrimLeft(line, " "); text != "" {
			p.indent = len(line) - len(text)
			break
		}
	}
	return p
}

func (p *placer) isBlock() bool {
	return p.node.Style == yaml.LiteralStyle || p.node.Style == yaml.FoldedStyle
}

// position takes line and column in the expression. It is exact for blocks and
// for text on one line.
func (p *placer) position(line, column int) Position {
	switch {
	case p.node == nil:
		return Position{File: p.file, Line: 1, Column: 1}
	case p.node.Style == yaml.FoldedStyle:
		line, column = p.unfold(line, column)
		fallthrough
	case p.isBlock():
		return Position{File: p.file, Line: p.node.Line + line, Column: p.indent + column}
	case p.node.Style == yaml.SingleQuotedStyle || p.node.Style == yaml.DoubleQuotedStyle:
		column++
	}
	return Position{File: p.file, Line: p.node.Line, Column: p.node.Column + column - 1}
}

// unfold finds the line of the file that holds a column of a folded block, whose
// lines were joined by one space each.
func (p *placer) unfold(line, column int) (int, int) {
	if line > 1 { // an empty line or a deeper indent kept a line break
		return 0, p.node.Column - p.indent
	}
	for i, text := range p.lines {
		width := len([]rune(text)) - p.indent
		if column <= width {
			return i + 1, column
		}
		column -= width + 1
	}
	return 0, p.node.Column - p.indent
}
