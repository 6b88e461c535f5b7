package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quorate/quorate/cel/suite"
)

const widgets = "../../cel/suite/testdata/widgets"

// output is what one command line gave.
type output struct {
	code           int
	stdout, stderr string
}

func quorate(args ...string) output {
	var stdout, stderr bytes.Buffer
	code := run(context.Background(), args, &stdout, &stderr)
	return output{code, stdout.String(), stderr.String()}
}

// copyWidgets copies the sample folder, with files replaced by name.
func copyWidgets(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(widgets)); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// replaced gives a file of the sample with one text replaced.
func replaced(t *testing.T, name, old, new string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(widgets, name))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), old) {
		t.Fatalf("%s does not contain %q", name, old)
	}
	return strings.Replace(string(data), old, new, 1)
}

func TestPolicyTestExitCodes(t *testing.T) {
	const noPalette = "- name: no palette\n  live: {palette: null}\n  expect: deny\n"
	failing := copyWidgets(t, map[string]string{"no-shrink_test.yaml": replaced(t, "no-shrink_test.yaml", "while the widget is busy", "while busy")})
	gaps := copyWidgets(t, map[string]string{"paint-approved_test.yaml": replaced(t, "paint-approved_test.yaml", noPalette, "")})
	proved := copyWidgets(t, map[string]string{
		"paint-approved_test.yaml": replaced(t, "paint-approved_test.yaml", noPalette, ""),
		"policy.yaml": replaced(t, "policy.yaml", "version: v1\n",
			"version: v1\nequivalent:\n- {rule: paint-approved, mutant: 'drop-operand live.palette != null', proof: The palette cannot be deleted.}\n"),
	})
	tests := map[string]struct {
		args []string
		code int
		last string // last line on stderr
	}{
		"all well":              {[]string{widgets, "--coverage", "--mutate"}, 0, "mutate paint-approved"},
		"below a folder":        {[]string{filepath.Join(failing, "..", "...")}, 1, "quorate: 6 cases failed, 0 errors in the suite"},
		"a failing case":        {[]string{failing}, 1, "quorate: 6 cases failed, 0 errors in the suite"},
		"coverage":              {[]string{gaps, "--coverage"}, 3, "quorate: coverage is 95.5%, below 100.0%"},
		"coverage low enough":   {[]string{gaps, "--coverage", "--min-coverage", "95"}, 0, "compile the rules of " + gaps},
		"mutation":              {[]string{gaps, "--mutate"}, 3, "quorate: mutation is 97.9%, below 100.0%"},
		"mutation low enough":   {[]string{gaps, "--mutate", "--min-mutation", "97"}, 0, "mutate paint-approved"},
		"too many equivalents":  {[]string{proved, "--mutate"}, 3, "quorate: 1 of 47 mutants are declared equivalent, more than 2%"},
		"equivalents of a file": {[]string{filepath.Join(proved, "paint-approved.yaml"), "--mutate"}, 0, "mutate paint-approved"},
		"no such path":          {[]string{"nowhere"}, 2, "quorate: find rules: open nowhere: no such file or directory"},
		"unknown flag":          {[]string{"--covrage"}, 2, "quorate: unknown flag: --covrage"},
		"unknown output":        {[]string{widgets, "-o", "tap"}, 2, `quorate: unknown output "tap"; want one of table, json, yaml, junit, sarif, github`},
		"a wrong expression":    {[]string{widgets, "--run", "("}, 2, "quorate: --run: error parsing regexp: missing closing ): `(`"},
		"a part with coverage":  {[]string{widgets, "--run", "x", "--coverage"}, 2, "quorate: --run leaves cases out, so --coverage and --mutate would mislead; name a rule's file instead"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := quorate(append([]string{"policy", "test"}, test.args...)...)
			lines := strings.Split(strings.TrimSpace(got.stderr), "\n")
			if last := lines[len(lines)-1]; got.code != test.code || last != test.last {
				t.Errorf("got %d, %q\n%s", got.code, last, got.stdout)
			}
		})
	}
}

// Data goes to stdout alone, whatever the format.
func TestPolicyTestOutput(t *testing.T) {
	got := quorate("policy", "test", widgets, "--run", "no-shrink/fewer while", "-v")
	want := "ok     no-shrink  3 cases\n" +
		"  ok  ../../cel/suite/testdata/widgets/no-shrink_test.yaml:11:3: fewer while busy  (crd deny, webhook deny, vap deny)\n" +
		"  ok  ../../cel/suite/testdata/widgets/no-shrink_test.yaml:23:3: fewer while idle  (crd allow, webhook allow, vap allow)\n" +
		"  ok  ../../cel/suite/testdata/widgets/no-shrink_test.yaml:54:3: fewer while busy by the controller  (crd deny, webhook allow, vap deny)\n" +
		"3 passed, 0 failed\n"
	if got.stdout != want || got.stderr != "compile the rules of ../../cel/suite/testdata/widgets\n" {
		t.Errorf("got\n%s\n%s", got.stdout, got.stderr)
	}
	beginnings := map[string]string{
		"table": "ok     no-shrink", "json": "{\n", "yaml": "cases:\n", "junit": "<?xml ", "sarif": "{\n  \"$schema\"", "github": "20 passed, 0 failed\n",
	}
	for _, format := range suite.Formats {
		if got := quorate("policy", "test", widgets, "-o", format); got.code != 0 || !strings.HasPrefix(got.stdout, beginnings[format]) {
			t.Errorf("%s: got %d\n%s", format, got.code, got.stdout)
		}
	}
}

func TestPolicyRules(t *testing.T) {
	want := `RULE            RESOURCE  LAYERS           BINDS               ON                                    REFUSES
no-shrink       widgets   crd,webhook,vap  everyone            CREATE,UPDATE of object,status,scale  Fewer replicas while the widget is busy.
paint-approved  widgets   webhook          all-but-controller  UPDATE                                A new color by someone who may not paint widgets, or that no palette lists.
`
	if got := quorate("policy", "rules", "--rules", widgets); got.stdout != want || got.code != 0 {
		t.Errorf("got %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	wantYAML := `group: example.com
rules:
- binds: everyone
  doc: Fewer replicas while the widget is busy.
  expression: |
    !has(self.spec.replicas) || !has(oldSelf.spec.replicas)
      || self.spec.replicas >= oldSelf.spec.replicas
      || !has(oldSelf.status) || !has(oldSelf.status.phase)
      || oldSelf.status.phase != 'Busy'
  fieldPath: .spec.replicas
  id: no-shrink
  layers:
  - crd
  - webhook
  - vap
  message: replicas cannot be lowered while the widget is busy; wait for status.phase
    Idle (no-shrink)
  operations:
  - CREATE
  - UPDATE
  reason: FieldValueForbidden
  resource: widgets
  subresources:
  - ""
  - status
  - scale
`
	if got := quorate("policy", "rules", "--rules", widgets, "-o", "yaml"); !strings.HasPrefix(got.stdout, wantYAML) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
	if got := quorate("policy", "rules", "-o", "junit"); got.code != 2 || got.stderr != "quorate: unknown output \"junit\"; want one of table, json, yaml\n" {
		t.Errorf("got %d %s", got.code, got.stderr)
	}
	if got := quorate("policy", "rules"); !strings.Contains(got.stdout, "\nscale-out-blocked ") || got.code != 0 {
		t.Errorf("the embedded rules: got %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
