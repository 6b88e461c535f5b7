package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"sigs.k8s.io/yaml"
)

// Style says how a table looks.
type Style struct {
	// Color allows terminal colors.
	Color bool
	// Verbose lists cases that passed and rules that are covered too.
	Verbose bool
	// Version is this program's, for outputs that name the tool.
	Version string
}

// Formats lists what Write knows.
var Formats = []string{"table", "json", "yaml", "junit", "sarif", "github"}

// ErrFormat says that an output format is unknown.
var ErrFormat = errors.New("unknown output format")

// Write prints the report. The same report gives the same bytes.
func (r *Report) Write(w io.Writer, format string, style Style) error {
	switch format {
	case "table":
		return writeTable(w, r, style)
	case "json":
		return writeJSON(w, r)
	case "yaml":
		data, err := yaml.Marshal(r)
		if err != nil {
			return fmt.Errorf("encode the report: %w", err)
		}
		_, err = w.Write(data)
		return err
	case "junit":
		return writeJUnit(w, r)
	case "sarif":
		return writeJSON(w, newSARIF(r, style.Version))
	case "github":
		return writeGitHub(w, r)
	}
	return fmt.Errorf("%w: %q; want one of %v", ErrFormat, format, Formats)
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return nil
}
