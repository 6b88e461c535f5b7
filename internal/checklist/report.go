package checklist

import (
	"bufio"
	"fmt"
	"io"
)

// Entry is a behaviour with the tests that hold it.
type Entry struct {
	Behaviour
	Tests []Cover
}

// state says in a few words how far the behaviour is.
func (e Entry) state() string {
	switch {
	case e.Later == "" && len(e.Tests) == 0:
		return "open"
	case e.Later == "":
		return "held by tests"
	case len(e.Tests) == 0:
		return "open, later: " + e.Later
	default:
		return "held in part, rest later: " + e.Later
	}
}

// Match lays the tests beside the behaviours, in the list's order. Faults are
// behaviours that want a test and have none, and ids that no line has.
func Match(list string, behaviours []Behaviour, covers []Cover) ([]Entry, []Fault) {
	var faults []Fault
	entries := make([]Entry, len(behaviours))
	at := map[string]int{}
	for i, b := range behaviours {
		entries[i].Behaviour, at[b.ID] = b, i
	}
	for _, c := range covers {
		i, ok := at[c.ID]
		if !ok {
			faults = append(faults, Fault{c.File, c.Line, fmt.Sprintf("%s is not in %s", c.ID, list)})
			continue
		}
		entries[i].Tests = append(entries[i].Tests, c)
	}
	for _, e := range entries {
		if len(e.Tests) == 0 && (e.Later == "" || e.Partly) {
			faults = append(faults, Fault{list, e.Line, e.ID + " has no test: " + wanted(e.Behaviour)})
		}
	}
	return entries, faults
}

func wanted(b Behaviour) string {
	if b.Partly {
		return "its mark leaves only the rest for later"
	}
	return "name it in one, or mark it with the part that brings it"
}

// Write prints each behaviour with its tests, and a last line that counts them.
func Write(w io.Writer, entries []Entry) error {
	out := bufio.NewWriter(w)
	var held, part, open int
	for _, e := range entries {
		fmt.Fprintf(out, "%-5s %s\n", e.ID, e.state())
		for _, t := range e.Tests {
			fmt.Fprintf(out, "        %s:%d%s\n", t.File, t.Line, prefixed(" ", t.Test))
		}
		switch {
		case len(e.Tests) == 0:
			open++
		case e.Later == "":
			held++
		default:
			part++
		}
	}
	fmt.Fprintf(out, "%d behaviours: %d held by tests, %d in part, %d open\n", len(entries), held, part, open)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the checklist: %w", err)
	}
	return nil
}

func prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}
