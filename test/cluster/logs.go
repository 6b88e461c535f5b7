package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// logs are the output files of the processes.
type logs struct {
	dir   string
	files []*os.File
}

func (l *logs) open(name string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(l.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", name, err)
	}
	l.files = append(l.files, file)
	return file, nil
}

// tailLines and tailWidth are how much of each log an error quotes.
const (
	tailLines = 12
	tailWidth = 300 // bytes of a line
)

// tail answers the end of every log, to be put behind an error message: the
// process that was started last comes first, since a failure is most often its.
func (l *logs) tail() string {
	if l == nil {
		return ""
	}
	var text bytes.Buffer
	for _, file := range slices.Backward(l.files) {
		content, err := os.ReadFile(file.Name())
		if err != nil || len(content) == 0 {
			continue
		}
		fmt.Fprintf(&text, "\n--- %s\n%s", filepath.Base(file.Name()), telling(content))
	}
	return text.String()
}

// telling picks the lines that say why a process ended: the first ones of a
// panic, else the last ones.
func telling(log []byte) []byte {
	newline := []byte("\n")
	lines := bytes.Split(bytes.TrimRight(log, "\n"), newline)
	from := max(0, len(lines)-tailLines)
	for i, line := range lines {
		if bytes.HasPrefix(line, []byte("panic:")) {
			from = i
			break
		}
	}
	lines = lines[from:min(len(lines), from+tailLines)]
	for i, line := range lines {
		lines[i] = line[:min(len(line), tailWidth)]
	}
	return bytes.Join(lines, newline)
}

func (l *logs) close() error {
	if l == nil {
		return nil
	}
	var errs []error
	for _, file := range l.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// Logs answers the last lines of each process's log, for a failing test to print.
func (c *Cluster) Logs() string { return c.logs.tail() }
