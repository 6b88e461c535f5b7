package checklist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
)

const list = parts + `
- **A-1** Here.
- **A-2** Not yet. *(later: etcd membership)*
- **A-3** Half. *(rest later: etcd membership)*
`

func repository(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{"docs/list.md": {Data: []byte(list)}}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestRunPrintsEachBehaviourWithItsTests(t *testing.T) {
	var out bytes.Buffer
	faults, err := Run(&out, repository(map[string]string{
		"a_test.go":   "package a\n\n// covers: A-1, A-3\nfunc TestIt() {}\n",
		"b_test.yaml": "# covers: A-1\n",
	}), "docs/list.md")
	if err != nil || len(faults) > 0 {
		t.Fatal(err, faults)
	}
	const want = `A-1   held by tests
        a_test.go:3 TestIt
        b_test.yaml:1
A-2   open, later: etcd membership
A-3   held in part, rest later: etcd membership
        a_test.go:3 TestIt
3 behaviours: 1 held by tests, 1 in part, 1 open
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestRunFindsWhatIsPlanted(t *testing.T) {
	all := "# covers: A-1, A-3\n"
	for _, c := range []struct {
		label, test, want string
	}{
		{"all is well", all, "[]"},
		{"something of a later one is here", all + "# covers: A-2\n", "[]"},
		{"no test at all", "", "[docs/list.md:4: A-1 has no test: name it in one, or mark it with the part that brings it docs/list.md:6: A-3 has no test: its mark leaves only the rest for later]"},
		{"no test of the part that is here", "# covers: A-1\n", "[docs/list.md:6: A-3 has no test: its mark leaves only the rest for later]"},
		{"an id that is not listed", all + "# covers: A-4\n", "[x_test.yaml:2: A-4 is not in docs/list.md]"},
		{"a case name with an id that is not listed", all + "- name: Z-1 stranger\n", "[x_test.yaml:2: Z-1 is not in docs/list.md]"},
		{"faults in the order of their places", "# covers: Z-2\n# covers: Z1\n" + all, `[x_test.yaml:1: Z-2 is not in docs/list.md x_test.yaml:2: "Z1" is no list of ids: write covers: A-9, A-10]`},
	} {
		t.Run(c.label, func(t *testing.T) {
			var out bytes.Buffer
			faults, err := Run(&out, repository(map[string]string{"x_test.yaml": c.test}), "docs/list.md")
			if got := fmt.Sprint(faults); err != nil || got != c.want {
				t.Errorf("%v got\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestRunWithoutAList(t *testing.T) {
	_, err := Run(&bytes.Buffer{}, fstest.MapFS{}, "docs/list.md")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want that the list does not exist", err)
	}
}

type full struct{}

var errFull = errors.New("disk full")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestRunSaysThatItCouldNotWrite(t *testing.T) {
	if _, err := Run(full{}, repository(nil), "docs/list.md"); !errors.Is(err, errFull) {
		t.Errorf("got %v, want %v", err, errFull)
	}
}
