package checklist

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

const goTest = `package x

// covers: A-1, A-2
func TestDoc(t *testing.T) {
	// covers: B-1
	t.Run("A-3 more while scaling in", nil)
	t.Run("no A-4 in front", nil)
	for _, c := range []struct{ name, text string }{{name: "A-5, A-6: both", text: "A-7 is no name"}} {
		t.Run(c.name, nil)
	}
	_ = "// covers: A-8"
}

/* covers: A-9 */
func FuzzBody(f *testing.F) {}

// discovers: nothing; what it covers: neither.
func helper() {} // covers: C-1
`

const yamlTest = `rule: scale-out-blocked
# covers: A-9, A-10
cases:
- name: more while scaling in
- name: 'A-11 two changes' # covers: B-2
- text: A-12
`

func TestScan(t *testing.T) {
	covers, faults, err := Scan(fstest.MapFS{
		"cel/x_test.go":             {Data: []byte(goTest)},
		"cel/rules/y_test.yaml":     {Data: []byte(yamlTest)},
		"cel/x.go":                  {Data: []byte("package x // covers: C-9")},
		"cel/rules/y.yaml":          {Data: []byte("# covers: C-9")},
		"bin/z_test.yaml":           {Data: []byte("# covers: C-9")},
		"test/bin/z_test.yaml":      {Data: []byte("# covers: C-9")},
		"cel/testdata/z_test.yaml":  {Data: []byte("# covers: C-9")},
		"vendor/a/z_test.yaml":      {Data: []byte("# covers: C-9")},
		".git/modules/z_test.yaml":  {Data: []byte("# covers: C-9")},
		"cel/broken_test.yaml/keep": {Data: []byte("a folder whose name ends like a test")},
	})
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	want := []Cover{
		{"A-9", "cel/rules/y_test.yaml", 2, ""},
		{"A-10", "cel/rules/y_test.yaml", 2, ""},
		{"B-2", "cel/rules/y_test.yaml", 5, ""},
		{"A-11", "cel/rules/y_test.yaml", 5, ""},
		{"A-1", "cel/x_test.go", 3, "TestDoc"},
		{"A-2", "cel/x_test.go", 3, "TestDoc"},
		{"B-1", "cel/x_test.go", 5, "TestDoc"},
		{"A-9", "cel/x_test.go", 14, "FuzzBody"},
		{"C-1", "cel/x_test.go", 18, ""},
		{"A-3", "cel/x_test.go", 6, "TestDoc"},
		{"A-5", "cel/x_test.go", 8, "TestDoc"},
		{"A-6", "cel/x_test.go", 8, "TestDoc"},
	}
	if !slices.Equal(covers, want) {
		t.Errorf("got\n%v\nwant\n%v", covers, want)
	}
}

func TestScanFaults(t *testing.T) {
	for _, c := range []struct{ label, file, text, want string }{
		{"no ids", "x_test.go", "package x\n// covers:\n", `x_test.go:2: "" is no list of ids: write covers: A-9, A-10`},
		{"no comma", "x_test.go", "package x\n// covers: A-9 A-10\n", `x_test.go:2: "A-9 A-10" is no list of ids: write covers: A-9, A-10`},
		{"no dash", "x_test.yaml", "# covers: A9", `x_test.yaml:1: "A9" is no list of ids: write covers: A-9, A-10`},
		{"a word behind", "x_test.yaml", "\n# covers: A-9 (half)", `x_test.yaml:2: "A-9 (half)" is no list of ids: write covers: A-9, A-10`},
		{"no Go", "x_test.go", "pakage x", "x_test.go:1: does not parse: x_test.go:1:1: expected 'package', found pakage"},
	} {
		t.Run(c.label, func(t *testing.T) {
			covers, faults, err := Scan(fstest.MapFS{c.file: {Data: []byte(c.text)}})
			if err != nil || len(covers) > 0 || len(faults) != 1 || faults[0].String() != c.want {
				t.Errorf("got %v %v %v, want only %s", covers, faults, err, c.want)
			}
		})
	}
}

// unreadable is a repository with a file that cannot be opened.
type unreadable struct{ fstest.MapFS }

func (u unreadable) ReadFile(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrPermission}
}

func TestScanSaysWhatItCouldNotRead(t *testing.T) {
	_, _, err := Scan(unreadable{fstest.MapFS{"x_test.go": {}}})
	if !errors.Is(err, fs.ErrPermission) || err.Error() != "look for tests: read x_test.go: permission denied" {
		t.Errorf("got %v", err)
	}
}
