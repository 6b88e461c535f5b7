package doctor

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// WriteTable prints the report for people: a line for each finding, and the way
// out under it.
func (r Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CHECK\tSTATE\tSEEN")
	for _, c := range r.Checks {
		name := c.Name
		for _, f := range c.Findings {
			fmt.Fprintf(t, "%s\t%s\t%s\n", name, f.State, f.Seen)
			if f.WayOut != "" {
				fmt.Fprintf(t, "\t\t  -> %s\n", f.WayOut)
			}
			name = ""
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	return nil
}
