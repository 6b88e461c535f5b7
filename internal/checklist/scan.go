package checklist

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
)

// Cover is one place in a test that names a behaviour.
type Cover struct {
	ID   string
	File string
	Line int
	// Test is the Go test function around it; empty in YAML.
	Test string
}

var (
	coversNote = regexp.MustCompile(`^covers:\s*(.*)$`)
	namedID    = regexp.MustCompile(`^([A-Z]-[1-9][0-9]*(?:, [A-Z]-[1-9][0-9]*)*)(?:[: ]|$)`)
)

// Scan reads every *_test.go and *_test.yaml below the root, but for hidden
// folders and those named bin, testdata and vendor. Faults are notes that cannot
// be read as ids and Go files that do not parse.
func Scan(fsys fs.FS) ([]Cover, []Fault, error) {
	var covers []Cover
	var faults []Fault
	err := fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && leftOut(d.Name()):
			return fs.SkipDir
		case d.IsDir() || reader(path) == nil:
			return nil
		}
		data, err := fs.ReadFile(fsys, path)
		if err != nil {
			return err
		}
		c, f := reader(path)(path, data)
		covers, faults = append(covers, c...), append(faults, f...)
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look for tests: %w", err)
	}
	return covers, faults, nil
}

func leftOut(dir string) bool {
	hidden := strings.HasPrefix(dir, ".") && dir != "."
	return hidden || dir == "bin" || dir == "testdata" || dir == "vendor"
}

func reader(path string) func(string, []byte) ([]Cover, []Fault) {
	switch {
	case strings.HasSuffix(path, "_test.go"):
		return scanGo
	case strings.HasSuffix(path, "_test.yaml"):
		return scanYAML
	}
	return nil
}

// ids splits the ids of a note; ok is false when something else is among them.
func ids(list string) (found []string, ok bool) {
	for part := range strings.SplitSeq(list, ",") {
		id := strings.TrimSpace(part)
		if !idForm.MatchString(id) {
			return nil, false
		}
		found = append(found, id)
	}
	return found, true
}

// collect gathers what one file names.
type collect struct {
	file   string
	covers []Cover
	faults []Fault
}

// note takes a comment's text in; one that is no covers note counts for nothing.
func (c *collect) note(line int, test, comment string) {
	m := coversNote.FindStringSubmatch(strings.TrimSpace(comment))
	if m == nil {
		return
	}
	found, ok := ids(m[1])
	if !ok {
		c.faults = append(c.faults, Fault{c.file, line, fmt.Sprintf("%q is no list of ids: write covers: A-9, A-10", m[1])})
	}
	c.add(line, test, found)
}

// name takes the name of a subtest or case in.
func (c *collect) name(line int, test, name string) {
	if m := namedID.FindStringSubmatch(name); m != nil {
		found, _ := ids(m[1])
		c.add(line, test, found)
	}
}

func (c *collect) add(line int, test string, found []string) {
	for _, id := range found {
		c.covers = append(c.covers, Cover{ID: id, File: c.file, Line: line, Test: test})
	}
}
