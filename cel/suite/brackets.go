package suite

// matchBrackets pairs the brackets of an expression that stand outside strings
// and comments.
func matchBrackets(source []rune) map[int]int {
	match := map[int]int{}
	var open []int
	for at := 0; at < len(source); {
		switch r := source[at]; {
		case r == '\'' || r == '"' || r == '`':
			at = skipString(source, at)
			continue
		case r == '/' && at+1 < len(source) && source[at+1] == '/':
			at = skipLine(source, at)
			continue
		case r == '(' || r == '[' || r == '{':
			open = append(open, at)
		case (r == ')' || r == ']' || r == '}') && len(open) > 0:
			last := open[len(open)-1]
			open = open[:len(open)-1]
			match[at], match[last] = last, at
		}
		at++
	}
	return match
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
