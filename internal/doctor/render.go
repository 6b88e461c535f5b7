package doctor

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable prints the report for people: a line for each finding, and under it
// the way out, once for findings that share it.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHECK\tSTATE\tSEEN")
	for _, c := range r.Checks {
		for i, f := range c.Findings {
			name := c.Name
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", name, f.State, f.Seen)
			last := i == len(c.Findings)-1 || c.Findings[i+1].WayOut != f.WayOut
			if f.WayOut != "" && last {
				fmt.Fprintf(t, "\t\t  -> %s\n", f.WayOut)
			}
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
