package script

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/quorate/quorate/test/cluster"
)

// Transcript writes what happens as a person at a terminal would see it.
type Transcript struct {
	To io.Writer
	// Colours are for terminals.
	Colours bool
}

// The colours, by what they mark.
const (
	bold  = "1"
	dim   = "2"
	red   = "31"
	green = "32"
	cyan  = "36"
)

func (t *Transcript) paint(colour, text string) string {
	if !t.Colours {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// line writes one; how writing to a terminal fails is nobody's business.
func (t *Transcript) line(text string) { _, _ = fmt.Fprintln(t.To, text) }

// Colourful reports whether a stream wants colours: it is a terminal, and
// NO_COLOR is not set (https://no-color.org).
func Colourful(stream *os.File) bool {
	info, err := stream.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}

// Section begins a group of steps.
func (t *Transcript) Section(number int, s Section) {
	t.line("\n" + t.paint(bold, fmt.Sprintf("%d. %s", number, s.Title)))
	t.line(s.Line)
}

// Happens tells what the world does between two commands.
func (t *Transcript) Happens(a Action) { t.line("\n" + t.paint(dim, "# "+a.String())) }

// Types shows the command as it was typed.
func (t *Transcript) Types(s Step) {
	command := s.Command
	if s.Input != "" {
		command += " <<'EOF'"
	}
	t.line("\n" + t.paint(cyan, string(s.actor())+"$ ") + t.paint(bold, command))
	if s.Input != "" {
		t.line(s.Input + "EOF")
	}
}

// Answers shows kubectl's answer word for word, and how it compares.
func (t *Transcript) Answers(s Step, r cluster.Result, problems []string) {
	if answer := strings.TrimRight(r.Stdout+r.Stderr, "\n"); answer != "" {
		t.line(answer)
	}
	t.verdict(s.Name, s.Want.String(), problems)
}

// Found shows what was asked for elsewhere than by kubectl, and how it compares.
func (t *Transcript) Found(what, text, name, want string, problems []string) {
	t.line("\n" + t.paint(dim, "# "+what))
	t.line(strings.TrimRight(text, "\n"))
	t.verdict(name, want, problems)
}

// Meanwhile tells what happened beside a command, indented.
func (t *Transcript) Meanwhile(text string) { t.line(t.paint(dim, "  "+text)) }

func (t *Transcript) verdict(name, want string, problems []string) {
	if len(problems) == 0 {
		t.line(t.paint(green, "✓ "+name+": "+want))
		return
	}
	t.line(t.paint(red, "✗ "+name+": expected: "+want))
	for _, problem := range problems {
		t.line(t.paint(red, "  "+problem))
	}
}

// End sums up: how many steps, and how long they and the start before them took.
func (t *Transcript) End(r Result, played, start time.Duration) {
	verdict, colour := "all as expected", green
	if r.Wrong > 0 {
		verdict, colour = fmt.Sprintf("%d not as expected", r.Wrong), red
	}
	t.line("\n" + t.paint(colour, fmt.Sprintf("%d steps, %s, in %.0f s", r.Steps, verdict, played.Seconds())) +
		fmt.Sprintf(" (and %.0f s to start everything)", start.Seconds()))
}
