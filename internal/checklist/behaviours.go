package checklist

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Behaviour is one line of the list.
type Behaviour struct {
	// ID is a letter, a dash and a number, e.g. A-9.
	ID string
	// Text is the line without id and mark.
	Text string
	// Later is the part that brings the behaviour, empty for one that is here.
	Later string
	// Partly is true when something of it is here already: it needs a test now.
	Partly bool
	// Line is where it stands in the list.
	Line int
}

var (
	bullet = regexp.MustCompile(`^- \*\*(.+?)\*\*(:?) (.*)$`)
	idForm = regexp.MustCompile(`^([A-Z])-([1-9][0-9]*)$`)
	mark   = regexp.MustCompile(` ?\*\((rest )?later: ([^)]+)\)\*$`)
)

// Parse reads the list. A bullet whose bold text is an id is a behaviour; one
// whose bold text has a colon behind it names a part that marks can refer to.
// Faults are about repeated ids, gaps in their numbers, and unknown parts.
func Parse(file, text string) ([]Behaviour, []Fault) {
	p := &reading{file: file, parts: map[string]bool{}, next: map[string]int{}}
	for _, b := range bullets(text) {
		p.add(b)
	}
	if len(p.found) == 0 {
		p.fault(1, "no behaviour found: a line looks like `- **A-1** text`")
	}
	for _, b := range p.found {
		if b.Later != "" && !p.parts[b.Later] {
			p.fault(b.Line, fmt.Sprintf("%s is marked with %q, which is none of the parts listed above", b.ID, b.Later))
		}
	}
	return p.found, p.faults
}

type reading struct {
	file   string
	parts  map[string]bool
	next   map[string]int
	found  []Behaviour
	faults []Fault
}

func (p *reading) fault(line int, text string) {
	p.faults = append(p.faults, Fault{File: p.file, Line: line, Text: text})
}

func (p *reading) add(b textLine) {
	m := bullet.FindStringSubmatch(b.text)
	switch {
	case m == nil:
		p.fault(b.line, "a line that is neither a behaviour (`- **A-1** text`) nor a part (`- **name**: text`)")
	case m[2] == ":":
		p.parts[m[1]] = true
	default:
		p.behaviour(b.line, m[1], m[3])
	}
}

func (p *reading) behaviour(line int, id, text string) {
	m := idForm.FindStringSubmatch(id)
	if m == nil {
		p.fault(line, fmt.Sprintf("%q is no id: a letter, a dash and a number", id))
		return
	}
	p.count(line, m)
	b := Behaviour{ID: id, Line: line, Text: text}
	if m := mark.FindStringSubmatch(text); m != nil {
		b.Text, b.Partly, b.Later = strings.TrimSuffix(text, m[0]), m[1] != "", m[2]
	} else if strings.Contains(text, "later:") {
		p.fault(line, id+" has a mark that cannot be read: write *(later: part)* or *(rest later: part)* at its end")
	}
	p.found = append(p.found, b)
}

// count holds that the ids of a letter are 1, 2, 3 …: a line that got lost shows.
func (p *reading) count(line int, m []string) {
	want := p.next[m[1]] + 1
	got, err := strconv.Atoi(m[2])
	if err != nil || got != want {
		p.fault(line, fmt.Sprintf("%s stands where %s-%d is due", m[0], m[1], want))
	}
	p.next[m[1]] = max(got, want)
}

type textLine struct {
	line int
	text string
}

// bullets joins each top-level bullet with its indented continuation lines.
func bullets(text string) []textLine {
	var out []textLine
	open := false
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "- "):
			out, open = append(out, textLine{i + 1, strings.TrimSpace(line)}), true
		case open && strings.HasPrefix(line, "  "):
			out[len(out)-1].text += " " + strings.TrimSpace(line)
		default:
			open = false
		}
	}
	return out
}
