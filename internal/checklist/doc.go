// Package checklist holds the list of behaviours against the tests: each line of
// docs/behaviours.md has tests that name its id, or a mark that says which part
// of the product will bring it.
//
// A Go test names ids in a comment (`covers: A-9, A-10`) or at the beginning of
// a subtest's name; a YAML test does so in a comment or in a case's name.
package checklist

import (
	"fmt"
	"io"
	"io/fs"
)

// Run reads the list and all tests below the root of fsys, writes each id with
// its tests to w, and returns the faults found, sorted by place. The error is
// about reading or writing alone.
func Run(w io.Writer, fsys fs.FS, list string) ([]Fault, error) {
	data, err := fs.ReadFile(fsys, list)
	if err != nil {
		return nil, fmt.Errorf("read the list of behaviours: %w", err)
	}
	behaviours, faults := Parse(list, string(data))
	covers, unread, err := Scan(fsys)
	if err != nil {
		return nil, err
	}
	entries, unmet := Match(list, behaviours, covers)
	if err := Write(w, entries); err != nil {
		return nil, err
	}
	return sorted(append(append(faults, unread...), unmet...)), nil
}
