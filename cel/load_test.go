package cel

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/util/diff"
)

const goodRule = `id: b-rule
doc: Refuses what is tested.
resource: etcds
path: spec
expression: self.replicas > 0
message: spec.replicas must be above 0; set it (b-rule)
reason: FieldValueForbidden
fieldPath: .replicas
layers: [crd, webhook, vap]
binds: everyone
`

func rulesIn(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys["rules/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func lines(text ...string) string { return strings.Join(text, "\n") }

func wantText(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("unexpected text:\n%s", diff.Diff(want, got))
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestLoadSortsRulesAndLeavesOtherFilesOut(t *testing.T) {
	c, err := Load(rulesIn(map[string]string{
		"b-rule.yaml":      goodRule,
		"a-rule.yaml":      strings.ReplaceAll(strings.ReplaceAll(goodRule, "b-rule", "a-rule"), "etcds", "talosclusters"),
		"c-rule.yaml":      strings.ReplaceAll(goodRule, "b-rule", "c-rule"),
		"b-rule_test.yaml": "not: a rule",
		"policy.yaml":      "group: example.com\ncrds: [x]\n",
		"embed.go":         "package rules",
	}), "rules")
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, r := range c.Rules {
		ids = append(ids, r.Resource+"/"+r.ID)
	}
	wantText(t, strings.Join(ids, " "), "etcds/b-rule etcds/c-rule talosclusters/a-rule")
	wantText(t, c.Group, "example.com")
	r, ok := c.Rule("b-rule")
	if !ok || r.File != "rules/b-rule.yaml" || r.FieldPath != ".replicas" || !r.In(LayerVAP) || r.Binds != BindsEveryone {
		t.Errorf("b-rule was read as %+v", r)
	}
	if _, ok := c.Rule("missing"); ok {
		t.Error("a rule that is not there was found")
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestLoadRefusesWithPositions(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"unknown, repeated and mistyped fields, all at once": {
			files: map[string]string{"b-rule.yaml": "id: b-rule\nmesage: x\nid: again\nlayers: crd\nfieldPath: 5\n" +
				"live:\n  peers: {resource: etcds, nam: x}\nbinds: {}\n"},
			want: lines(
				`rules/b-rule.yaml:2:1: unknown field "mesage"`,
				`rules/b-rule.yaml:3:1: field "id" is there twice`,
				`rules/b-rule.yaml:4:9: layers: want a list, got a string`,
				`rules/b-rule.yaml:5:12: fieldPath: want a string, got an integer`,
				`rules/b-rule.yaml:7:28: unknown field "live.peers.nam"`,
				`rules/b-rule.yaml:8:8: binds: want a string, got a mapping`),
		},
		"problems of several files": {
			files: map[string]string{"a.yaml": "x: 1", "b.yaml": "- 1"},
			want: lines(
				`rules/a.yaml:1:1: unknown field "x"`,
				`rules/b.yaml:1:1: the document: want a mapping, got a list`),
		},
		"a key that is no string": {
			files: map[string]string{"a.yaml": "id: a\n? [1]\n: x\n"},
			want:  `rules/a.yaml:2:3: the document: a field's name must be a string`,
		},
		"a null list entry": {
			files: map[string]string{"a.yaml": "layers:\n- crd\n-\n"},
			want:  `rules/a.yaml:3:2: layers[1]: want a string, got null`,
		},
		"empty file":         {map[string]string{"a.yaml": ""}, "rules/a.yaml:1:1: the file is empty"},
		"comments alone":     {map[string]string{"a.yaml": "# nothing\n"}, "rules/a.yaml:1:1: the file is empty"},
		"empty document":     {map[string]string{"a.yaml": "---\n"}, "rules/a.yaml:2:1: the document is empty"},
		"two documents":      {map[string]string{"a.yaml": "id: a\n---\nid: b\n"}, "rules/a.yaml:3:1: a second document; one file holds one"},
		"broken second":      {map[string]string{"a.yaml": "id: a\n---\n  x: [\n"}, "rules/a.yaml:3:3: did not find expected node content"},
		"broken first line":  {map[string]string{"a.yaml": "\tid: a"}, "rules/a.yaml:1:2: found character that cannot start any token"},
		"broken later line":  {map[string]string{"a.yaml": "id: a\ndoc: x\n  y: z: u\n"}, "rules/a.yaml:3:3: mapping values are not allowed in this context"},
		"group of no name":   {map[string]string{"a.yaml": goodRule, "policy.yaml": "group: 1"}, "rules/policy.yaml: group: want an API group's name"},
		"broken policy file": {map[string]string{"a.yaml": goodRule, "policy.yaml": "a: 1\na: 2\n"}, `rules/policy.yaml:2:1: field "a" is there twice`},
		"no rules":           {map[string]string{"a_test.yaml": "x"}, "load rules from rules: no rule files"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Load(rulesIn(tc.files), "rules")
			if c != nil {
				t.Error("a catalogue came with the error")
			}
			wantText(t, errorText(err), tc.want)
		})
	}
}

func TestLoadNamesTheMissingFolder(t *testing.T) {
	_, err := Load(fstest.MapFS{}, "rules")
	wantText(t, errorText(err), "list rule folder rules: open rules: file does not exist")
}

func TestLoadErrorsCarryTheirPlace(t *testing.T) {
	_, err := Load(rulesIn(map[string]string{"a.yaml": "id: a\nx: 1"}), "rules")
	var place *SourceError
	if !errors.As(err, &place) || place.Line != 2 || place.Column != 1 || place.File != "rules/a.yaml" {
		t.Errorf("no place in %v", err)
	}
}

func TestDecodeStrictGivesWhatJSONWould(t *testing.T) {
	var out struct {
		Any   map[string]any `json:"any"`
		Flag  *bool          `json:"flag"`
		Share float64        `json:"share"`
		None  *int           `json:"none"`
	}
	err := DecodeStrict("f.yaml", []byte(lines("any:", "  when: 2026-01-02", "  n: 3", "  f: 1.5", "  l: &l [true, null]",
		"  again: *l", "flag: true", "share: 2", "none: null")), &out)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, diff.Diff(out.Any, map[string]any{
		"when": "2026-01-02", "n": int64(3), "f": 1.5, "l": []any{true, nil}, "again": []any{true, nil},
	}), "")
	if out.Flag == nil || !*out.Flag || out.Share != 2 || out.None != nil {
		t.Errorf("decoded %+v", out)
	}
	err = DecodeStrict("f.yaml", []byte("any: {b: !!binary aGk=, <<: {}}\nshare: x\nflag: 99\n"), &out)
	wantText(t, errorText(err), lines(
		`f.yaml:1:10: any.b: binary data has no JSON form`,
		`f.yaml:1:25: any: a field's name must be a string`,
		`f.yaml:2:8: share: want a number, got a string`,
		`f.yaml:3:7: flag: want a boolean, got an integer`))
}
