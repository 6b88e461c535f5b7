package script

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/test/cluster"
)

func TestWords(t *testing.T) {
	for command, want := range map[string][]string{
		"kubectl get  etcd/main":                 {"kubectl", "get", "etcd/main"},
		`kubectl patch x -p '{"a": "b c"}' -n n`: {"kubectl", "patch", "x", "-p", `{"a": "b c"}`, "-n", "n"},
		"kubectl annotate x ''":                  {"kubectl", "annotate", "x", ""},
	} {
		if got, err := words(command); err != nil || !slices.Equal(got, want) {
			t.Errorf("words(%s) = %q, %v, want %q", command, got, err, want)
		}
	}
	if _, err := words("kubectl get 'x"); !errors.Is(err, errQuote) {
		t.Errorf("an open quote: got %v", err)
	}
}

func TestProblems(t *testing.T) {
	const text = `The Etcd "main" is invalid: spec.replicas: Forbidden: no. Wait. (scale-out-blocked)`
	want := refused("scale-out-blocked", "Wait.")
	for name, c := range map[string]struct {
		want   Want
		result cluster.Result
		wrong  []string
	}{
		"as expected":        {want, cluster.Result{Stderr: text, Code: 1}, nil},
		"let through":        {want, cluster.Result{Stdout: "etcd/main scaled"}, []string{"kubectl ended with exit code 0", "the answer names the rules [], not [scale-out-blocked]", `the answer does not say "Wait."`}},
		"by another rule":    {refused("scale-in-blocked"), cluster.Result{Stderr: text, Code: 1}, []string{"the answer names the rules [scale-out-blocked], not [scale-in-blocked]"}},
		"by one rule more":   {want, cluster.Result{Stderr: text + " No. (status-is-ours)", Code: 1}, []string{"the answer names the rules [scale-out-blocked status-is-ours], not [scale-out-blocked]"}},
		"without a way out":  {refused("scale-out-blocked", "Go home."), cluster.Result{Stderr: text, Code: 1}, []string{`the answer does not say "Go home."`}},
		"by a rule's error":  {want, cluster.Result{Stderr: "no such key: status evaluating rule: " + text, Code: 1}, []string{"a rule could not be evaluated"}},
		"refused by mistake": {allowed(), cluster.Result{Stderr: text, Code: 1}, []string{"kubectl ended with exit code 1", "the answer names the rules [scale-out-blocked], not []"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.want.Problems(c.result); !slices.Equal(got, c.wrong) {
				t.Errorf("problems: %q, want %q", got, c.wrong)
			}
		})
	}
}

// TestScript holds the data: names are unique, commands can be run, every rule
// is one of the catalogue's, and every refusal by a rule names a way out.
func TestScript(t *testing.T) {
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, section := range All() {
		for _, step := range section.Steps {
			if seen[step.Name] {
				t.Errorf("%s: the name is not unique", step.Name)
			}
			seen[step.Name] = true
			if args, err := words(step.Command); err != nil || args[0] != "kubectl" {
				t.Errorf("%s: %q cannot be run: %v", step.Name, step.Command, err)
			}
			for _, id := range step.Want.Rules {
				if _, ok := catalogue.Rule(id); !ok {
					t.Errorf("%s: there is no rule %s", step.Name, id)
				}
			}
			if len(step.Want.Rules) > 0 && len(step.Want.Says) < 2 {
				t.Errorf("%s: what was seen and the way out are not checked", step.Name)
			}
		}
	}
}

// stage answers every command alike.
type stage struct {
	Stage
	answer cluster.Result
	ran    []string
}

func (s *stage) Kubectl(_ context.Context, actor, stdin string, args ...string) (cluster.Result, error) {
	s.ran = append(s.ran, actor+": "+strings.Join(args, " ")+stdin)
	return s.answer, nil
}

func TestPlay(t *testing.T) {
	sections := []Section{{Title: "Sizes", Line: "Why.", Steps: []Step{
		{Name: "good", Before: []Action{Records{"etcd/main", "one thing", 1}}, Command: "kubectl scale etcd/main", Want: allowed()},
		{Name: "bad", As: Admin, Command: "kubectl apply -f -", Input: "a: b\n", Want: Want{Refused: true}},
	}}}
	var out bytes.Buffer
	s := &stage{answer: cluster.Result{Stdout: "done\n"}}
	player := &Player{Stage: s, Tellers: []Teller{&Transcript{To: &out}}}
	got, err := player.Play(t.Context(), sections)
	if want := (Result{Steps: 2, Wrong: 1}); err != nil || got != want {
		t.Errorf("played %+v, %v, want %+v", got, err, want)
	}
	ran := []string{
		`controller: patch etcd/main --subresource=status --type=json -p [{"op":"add","path":"/status","value":1}]`,
		"alice: scale etcd/main", "admin: apply -f -a: b\n",
	}
	if !slices.Equal(s.ran, ran) {
		t.Errorf("ran %q, want %q", s.ran, ran)
	}
	const told = `
1. Sizes
Why.

# the controller records on etcd/main: one thing

alice$ kubectl scale etcd/main
done
✓ good: allowed

admin$ kubectl apply -f - <<'EOF'
a: b
EOF
done
✗ bad: expected: refused
  kubectl ended with exit code 0
`
	if out.String() != told {
		t.Errorf("told:\n%s\nwant:\n%s", out.String(), told)
	}
}
