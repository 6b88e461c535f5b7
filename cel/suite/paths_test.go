package suite

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestFind(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{
		"a/policy.yaml", "a/one.yaml", "a/one_test.yaml", "a/two.yaml", "a/two_test.yaml", "a/bare.yaml",
		"a/deep/er/three.yaml", "a/deep/er/three_test.yaml",
		"a/testdata/x.yaml", "a/testdata/x_test.yaml", "a/.git/x.yaml", "a/.git/x_test.yaml", "a/_old/x.yaml", "a/_old/x_test.yaml",
		"charts/tests/deployment_test.yaml", // of another tool
	} {
		files[name] = &fstest.MapFile{}
	}
	files["deploy/policy.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n")}
	tests := map[string]struct {
		paths []string
		want  string
	}{
		"everything":               {nil, "[{a []} {a/deep/er []}]"},
		"everything, spelled":      {[]string{"./..."}, "[{a []} {a/deep/er []}]"},
		"below a folder":           {[]string{"a/deep/..."}, "[{a/deep/er []}]"},
		"a folder":                 {[]string{"./a/"}, "[{a []}]"},
		"hidden but named":         {[]string{"a/testdata"}, "[{a/testdata []}]"},
		"below one that is hidden": {[]string{"a/testdata/..."}, "[{a/testdata []}]"},
		"a case file":              {[]string{"a/two_test.yaml"}, "[{a [a/two_test.yaml]}]"},
		"a rule file":              {[]string{"a/two.yaml"}, "[{a [a/two_test.yaml]}]"},
		"both of a rule":           {[]string{"a/two.yaml", "a/two_test.yaml", "a/one.yaml"}, "[{a [a/one_test.yaml a/two_test.yaml]}]"},
		"a file, then its all":     {[]string{"a/two.yaml", "a"}, "[{a []}]"},
		"all, then a file":         {[]string{"a", "a/two.yaml"}, "[{a []}]"},
		"overlapping":              {[]string{"./...", "a/..."}, "[{a []} {a/deep/er []}]"},
		"nothing below":            {[]string{"charts/..."}, "no rules there: charts/... has no policy.yaml and no *_test.yaml beside its rule"},
		"no such folder":           {[]string{"b"}, "find rules: open b: file does not exist"},
		"no such folder to walk":   {[]string{"b/..."}, "search b/...: open b: file does not exist"},
		"policy.yaml":              {[]string{"a/policy.yaml"}, "no rules there: a/policy.yaml is neither a case file nor a rule file"},
		"a rule without cases":     {[]string{"a/bare.yaml"}, "find the cases of the rule: open a/bare_test.yaml: file does not exist"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			targets, err := Find(files, test.paths)
			got := fmt.Sprint(targets)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestHostFSFollowsParents(t *testing.T) {
	targets, err := Find(HostFS{}, []string{"testdata/../testdata/..."})
	if err != nil {
		t.Fatal(err)
	}
	if len(targets) != 1 || targets[0].Dir != "testdata/widgets" {
		t.Errorf("got %v", targets)
	}
	crds, err := ReadCRDs(HostFS{}, "testdata/widgets/crds", []string{"../crds/*.yaml"})
	if err != nil || len(crds) != 1 {
		t.Errorf("got %d CRDs, %v", len(crds), err)
	}
}

func TestPositionsInRuleFiles(t *testing.T) {
	tests := map[string]struct{ file, want string }{
		"literal block": {"id: r\nexpression: |\n  a &&\n    bb\n", "r.yaml:3:3 r.yaml:4:5"},
		"folded block":  {"id: r\nexpression: >-\n    a &&\n    bb\n", "r.yaml:3:5 r.yaml:4:5"},
		"plain":         {"id: r\nexpression: a && bb\n", "r.yaml:2:13 r.yaml:2:18"},
		"quoted":        {"id: r\nexpression: 'a && bb'\n", "r.yaml:2:14 r.yaml:2:19"},
		"none":          {"id: r\n", "r.yaml:1:1 r.yaml:1:1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := fstest.MapFS{"r.yaml": &fstest.MapFile{Data: []byte(test.file)}}
			rule := decodeRule(t, files)
			tree, err := parseTree(rule.Expression)
			if err != nil {
				t.Fatal(err)
			}
			place := newPlacer(files, rule)
			var got []string
			for _, leaf := range conditions(tree) {
				got = append(got, place.position(tree.position(leaf.start)).String())
			}
			if want := strings.Fields(test.want); !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}
