package why

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteTable prints the report for people: a headline for each object, then a
// line for each layer or objection.
func (r Report) WriteTable(w io.Writer) error {
	for i, c := range r.Cases {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := c.writeTable(w); err != nil {
			return err
		}
	}
	return nil
}

func (c Case) writeTable(w io.Writer) error {
	fmt.Fprintln(w, c.headline())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "LAYER\tVERDICT\tSOURCE\tRULE\tMESSAGE")
	for _, r := range c.Rows {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.Layer, r.Verdict, r.Source, cmp.Or(r.Rule, r.By, "-"), r.text())
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the table: %w", err)
	}
	for _, text := range c.Warnings {
		fmt.Fprintln(w, "warning:", text)
	}
	for _, text := range c.Notes {
		fmt.Fprintln(w, "note:", text)
	}
	return nil
}

// headline is e.g. "UPDATE of etcds.quorate.dev/a in data by alice: deny".
func (c Case) headline() string {
	parts := []string{string(c.Operation), "of", strings.TrimSuffix(c.Object+"/"+c.Subresource, "/")}
	if c.Namespace != "" {
		parts = append(parts, "in", c.Namespace)
	}
	if c.User != "" {
		parts = append(parts, "by", c.User)
	}
	return strings.Join(parts, " ") + ": " + string(c.Verdict)
}

func (r Row) text() string {
	switch {
	case r.Message == "":
		return "-"
	case r.Field == "":
		return r.Message
	}
	return r.Field + ": " + r.Message
}
