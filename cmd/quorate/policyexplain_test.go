package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const explainedRule = `no-shrink
Fewer replicas while the widget is busy.

Resource  widgets.example.com
Judged    CREATE,UPDATE of object,status,scale
Binds     everyone
Answers   FieldValueForbidden at spec.replicas

Allowed when
  !has(self.spec.replicas) || !has(oldSelf.spec.replicas)
    || self.spec.replicas >= oldSelf.spec.replicas
    || !has(oldSelf.status) || !has(oldSelf.status.phase)
    || oldSelf.status.phase != 'Busy'

Message
  replicas cannot be lowered while the widget is busy; wait for status.phase Idle (no-shrink)

Layers
  crd      yes  answers before the other layers; binds the controller too; is not asked on DELETE; skips a rule over oldSelf on CREATE
  webhook  yes  is not called for the controller
  vap      yes  does not see the object behind a scale request; binds the controller too
`

const explainedCase = `
Verdicts
  crd      deny
           deny by no-shrink: replicas cannot be lowered while the widget is busy; wait for status.phase Idle (no-shrink)
  webhook  deny
           deny by no-shrink: replicas cannot be lowered while the widget is busy; wait for status.phase Idle (no-shrink)
  vap      skip

Decided by
  !has(self.spec.replicas) || !has(oldSelf.spec.replicas) || self.spec.replicas >= oldSelf.spec.repli… = false
    !has(self.spec.replicas) = false
*     has(self.spec.replicas) = true
    !has(oldSelf.spec.replicas) = false
*     has(oldSelf.spec.replicas) = true
*   self.spec.replicas >= oldSelf.spec.replicas = false
      self.spec.replicas = 1
      oldSelf.spec.replicas = 3
    !has(oldSelf.status) = false
*     has(oldSelf.status) = true
    !has(oldSelf.status.phase) = false
*     has(oldSelf.status.phase) = true
*   oldSelf.status.phase != "Busy" = false
      oldSelf.status.phase = "Busy"
`

func TestPolicyExplain(t *testing.T) {
	got := quorate("policy", "explain", "no-shrink", "--rules", widgets)
	if got.stdout != explainedRule || got.code != 0 {
		t.Errorf("got %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	got = quorate("policy", "explain", "--rules", widgets,
		"-f", widgets+"/no-shrink_test.yaml", "--case", "fewer through scale while busy")
	if got.stdout != explainedRule+explainedCase || got.code != 0 {
		t.Errorf("got %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestPolicyExplainGateRule(t *testing.T) {
	got := quorate("policy", "explain", "paint-approved", "--rules", widgets)
	want := `
Layers
  crd      no   does not see who asks, the live world
  webhook  yes  is not called for the controller; reads live.palette before it judges: the widgets named by 'palette'
  vap      no   cannot read the live world
`
	if !strings.HasSuffix(got.stdout, want) {
		t.Errorf("got\n%s%s", got.stdout, got.stderr)
	}
}

// The embedded rules are explained with the embedded CRDs.
func TestPolicyExplainObjects(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	before := write("before.yaml", `
metadata: {name: main, namespace: etcd}
spec: {replicas: 3}
status: {conditions: [{type: ScaleOperationInProgress, status: 'True', reason: ScalingIn}]}
`)
	after := write("after.yaml", "metadata: {name: main, namespace: etcd}\nspec: {replicas: 5}\n")
	got := quorate("policy", "explain", "scale-out-blocked", "--old", before, "--new", after, "-o", "json")
	var told struct {
		Rule     struct{ ID string }
		Verdicts []struct {
			Layer   string
			Verdict struct {
				Outcome  string
				Findings []struct{ Rule string }
			}
		}
		Explanation struct{ Value string }
	}
	if err := json.Unmarshal([]byte(got.stdout), &told); err != nil {
		t.Fatalf("%v\n%s%s", err, got.stdout, got.stderr)
	}
	if told.Rule.ID != "scale-out-blocked" || told.Explanation.Value != "false" || len(told.Verdicts) != 3 {
		t.Fatalf("got %+v", told)
	}
	for _, v := range told.Verdicts {
		if v.Verdict.Outcome != "deny" || v.Verdict.Findings[0].Rule != "scale-out-blocked" {
			t.Errorf("%s: got %+v", v.Layer, v.Verdict)
		}
	}
}

func TestPolicyExplainUsage(t *testing.T) {
	cases := widgets + "/no-shrink_test.yaml"
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"nothing named":     {nil, 2, "name a rule, or a case with -f and --case"},
		"no such rule":      {[]string{"gone"}, 2, `no such rule: "gone"; quorate policy rules lists them`},
		"a file alone":      {[]string{"-f", cases}, 2, "-f and --case go together"},
		"a case alone":      {[]string{"no-shrink", "--case", "x"}, 2, "-f and --case go together"},
		"no such case":      {[]string{"-f", cases, "--case", "x"}, 1, `no such case: "x" in ` + cases},
		"two requests":      {[]string{"-f", cases, "--case", "x", "--old", "y"}, 2, "a case has objects of its own; leave --old and --new out"},
		"no such object":    {[]string{"no-shrink", "--old", "gone.yaml"}, 1, "read object: open gone.yaml: no such file or directory"},
		"two rules":         {[]string{"a", "b"}, 2, "accepts at most 1 arg(s), received 2"},
		"an unknown output": {[]string{"no-shrink", "-o", "xml"}, 2, `unknown output "xml"; want one of table, json, yaml`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := quorate(append([]string{"policy", "explain", "--rules", widgets}, test.args...)...)
			if got.code != test.code || got.stderr != "quorate: "+test.want+"\n" {
				t.Errorf("got %d, %s", got.code, got.stderr)
			}
		})
	}
}
