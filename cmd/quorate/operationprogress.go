package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/quorate/quorate/api/v1alpha1"
)

// operationProgress shows how far an operation is: on a terminal in place, elsewhere a line for
// each change.
type operationProgress struct {
	w      io.Writer
	redraw bool
	width  int
	now    func() time.Time

	drawn int    // lines to draw over
	last  string // the last line of a stream
	steps map[v1alpha1.RestoreStep]time.Time
}

// anyWidth is that of a terminal which does not tell.
const anyWidth = 80

func newOperationProgress(w io.Writer, now func() time.Time) *operationProgress {
	p := &operationProgress{w: w, now: now, redraw: isTerminal(w), width: anyWidth, steps: map[v1alpha1.RestoreStep]time.Time{}}
	if file, ok := w.(interface{ Fd() uintptr }); ok && p.redraw {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 { //nolint:gosec // a file descriptor
			p.width = width
		}
	}
	return p
}

// show takes a look in. aside is what is in the way of one; empty if nothing is.
func (p *operationProgress) show(op *v1alpha1.TalosOperation, aside string) {
	step := v1alpha1.RestoreStep(stepOf(op))
	if _, known := p.steps[step]; !known && step != "" {
		p.steps[step] = p.now()
	}
	if p.redraw {
		p.draw(p.block(op, aside))
		return
	}
	text := strings.Join(strings.Fields(phaseOf(op)+" "+stepOf(op)+": "+cmp.Or(aside, messageOf(op), "no word yet")), " ")
	if text = strings.Replace(text, " :", ":", 1); text != p.last {
		p.last = text
		fmt.Fprintf(p.w, "%s %s\n", p.now().Format(time.TimeOnly), text)
	}
}

// restoreSteps are those of a restore in their order.
var restoreSteps = []v1alpha1.RestoreStep{v1alpha1.StepWiping, v1alpha1.StepRecovering, v1alpha1.StepRejoining, v1alpha1.StepReconciling}

// block is the whole picture: a headline, a line for each step, and what is waited for.
func (p *operationProgress) block(op *v1alpha1.TalosOperation, aside string) []string {
	out := []string{fmt.Sprintf("%s  %s  %s", subject{"TalosOperation", op.Name}, phaseOf(op), duration.HumanDuration(p.now().Sub(op.CreationTimestamp.Time)))}
	if op.Spec.EtcdRestore != nil {
		at := slices.Index(restoreSteps, v1alpha1.RestoreStep(stepOf(op)))
		for i, s := range restoreSteps {
			mark, since := " ", ""
			switch {
			case i < at || op.Status.Phase == v1alpha1.PhaseCompleted:
				mark = "✓"
			case i == at:
				mark = "▸"
			}
			if began, ok := p.steps[s]; ok {
				since = "since " + began.Format(time.TimeOnly)
			}
			out = append(out, strings.TrimRight(fmt.Sprintf("  %s %-12s %s", mark, s, since), " "))
		}
	}
	if text := cmp.Or(aside, messageOf(op)); text != "" {
		out = append(out, "  "+oneLine(text))
	}
	return out
}

// draw writes lines over those that were drawn before. Each is cut to one row, so that
// it is known how many rows there are.
func (p *operationProgress) draw(lines []string) {
	var b strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", p.drawn)
	}
	for _, line := range lines {
		b.WriteString(shorten(line, p.width-1) + "\n")
	}
	p.drawn = len(lines)
	_, _ = io.WriteString(p.w, b.String()) // a terminal that is gone sees nothing
}

// end leaves the last picture where it is.
func (p *operationProgress) end() { p.drawn = 0 }
