package suite

import "unicode"

// layout is what of an expression's text the parser does not keep.
type layout struct {
	// match pairs the brackets that stand outside strings and comments.
	match map[int]int
	// blank marks white space and comments.
	blank []bool
}

func layoutOf(source []rune) layout {
	l := layout{match: map[int]int{}, blank: make([]bool, len(source))}
	var open []int
	for at := 0; at < len(source); {
		switch r := source[at]; {
		case r == '\'' || r == '"' || r == '`':
			at = skipString(source, at)
			continue
		case r == '/' && at+1 < len(source) && source[at+1] == '/':
			end := skipLine(source, at)
			for ; at < end; at++ {
				l.blank[at] = true
			}
			continue
		case unicode.IsSpace(r):
			l.blank[at] = true
		case r == '(' || r == '[' || r == '{':
			open = append(open, at)
		case (r == ')' || r == ']' || r == '}') && len(open) > 0:
			last := open[len(open)-1]
			open = open[:len(open)-1]
			l.match[at], l.match[last] = last, at
		}
		at++
	}
	return l
}

// left gives the offset of the first part of the text before at, or -1.
func (l layout) left(at int) int {
	for at--; at >= 0 && l.blank[at]; {
		at--
	}
	return at
}

// right gives the offset of the first part of the text from at on.
func (l layout) right(at int) int {
	for at < len(l.blank) && l.blank[at] {
		at++
	}
	return at
}

// skipString gives the offset after a string; escapes count unless it is raw.
func skipString(source []rune, at int) int {
	quote := source[at]
	width := 1
	if at+2 < len(source) && source[at+1] == quote && source[at+2] == quote {
		width = 3
	}
	raw := at > 0 && (source[at-1] == 'r' || source[at-1] == 'R') || quote == '`'
	for at += width; at < len(source); at++ {
		switch {
		case source[at] == '\\' && !raw:
			at++
		case closes(source[at:], quote, width):
			return at + width
		}
	}
	return at
}

func closes(source []rune, quote rune, width int) bool {
	if len(source) < width {
		return false
	}
	for _, r := range source[:width] {
		if r != quote {
			return false
		}
	}
	return true
}

func skipLine(source []rune, at int) int {
	for at < len(source) && source[at] != '\n' {
		at++
	}
	return at
}
