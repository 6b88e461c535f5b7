package suite

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// writeGitHub prints a workflow command for each finding, which GitHub shows at
// its line, and the totals for the log.
func writeGitHub(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	for _, f := range r.findings() {
		var place []string
		if f.at.File != "" {
			place = append(place, "file="+escapeProperty(f.at.File))
		}
		if f.at.Line > 0 {
			place = append(place, fmt.Sprintf("line=%d,col=%d", f.at.Line, f.at.Column))
		}
		title := f.kind
		if f.rule != "" {
			title += " " + f.rule
		}
		place = append(place, "title="+escapeProperty(title))
		fmt.Fprintf(out, "::error %s::%s\n", strings.Join(place, ","), escapeMessage(f.text))
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", r.Summary.Passed, r.Summary.Failed)
	return out.Flush()
}

var (
	messageEscapes  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func escapeMessage(s string) string  { return messageEscapes.Replace(s) }
func escapeProperty(s string) string { return propertyEscapes.Replace(s) }
