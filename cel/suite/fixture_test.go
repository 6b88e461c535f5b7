package suite

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/quorate/quorate/cel"
)

// sample is the widgets folder, with some of its files replaced, added or, by an
// empty text, removed.
func sample(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	out := fstest.MapFS{}
	root := os.DirFS("testdata")
	err := fs.WalkDir(root, "widgets", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		out[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		name = path.Join("widgets", name)
		if text == "" {
			delete(out, name)
			continue
		}
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// edited gives a file of the sample with one text replaced.
func edited(t *testing.T, name, old, new string) string {
	t.Helper()
	data, err := os.ReadFile(path.Join("testdata/widgets", name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	return strings.Replace(string(data), old, new, 1)
}

func runSample(t *testing.T, files map[string]string, o Options) *Report {
	t.Helper()
	report, err := Run(context.Background(), sample(t, files), []Target{{Dir: "widgets"}}, o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func printed(t *testing.T, r *Report, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := r.Write(&out, format, Style{Version: "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// same fails with the first line that differs.
func same(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d differs\ngot:  %q\nwant: %q\nall of it:\n%s", i+1, at(a, i), at(b, i), got)
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(no such line)"
}

// decodeRule reads r.yaml; without an expression it gets one of two conditions.
func decodeRule(t *testing.T, files fstest.MapFS) *cel.Rule {
	t.Helper()
	rule := &cel.Rule{}
	if err := cel.DecodeStrict("r.yaml", files["r.yaml"].Data, rule); err != nil {
		t.Fatal(err)
	}
	rule.File = "r.yaml"
	if rule.Expression == "" {
		rule.Expression = "a && bb"
	}
	return rule
}
