package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func generate(t *testing.T, rules, out string) output {
	t.Helper()
	return quorate("policy", "generate", "--crds", filepath.Join(widgets, "crds"),
		"--crd-out", filepath.Join(out, "crd"), "--vap-out", filepath.Join(out, "vap"), rules)
}

// contents gives the files below a folder by path.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"crd/*", "vap/*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(dir, file)
			files[name] = string(data)
		}
	}
	return files
}

func TestPolicyGenerate(t *testing.T) {
	dir := t.TempDir()
	got := generate(t, widgets, dir)
	if got.code != 0 || got.stdout != "" {
		t.Fatalf("got %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	files := contents(t, dir)
	names := slices.Sorted(maps.Keys(files))
	want := []string{"crd/example.com_widgets.yaml", "crd/kustomization.yaml", "vap/kustomization.yaml", "vap/quorate-widgets.yaml"}
	if !slices.Equal(names, want) {
		t.Fatalf("got %v", names)
	}
	for name, text := range files {
		if !strings.HasPrefix(text, generatedHeader+"---\napiVersion: ") {
			t.Errorf("%s begins with\n%.200s", name, text)
		}
		for _, unwanted := range []string{"creationTimestamp", "\nstatus:"} {
			if strings.Contains(text, unwanted) {
				t.Errorf("%s holds %q", name, unwanted)
			}
		}
	}
	kustomization := generatedHeader + "---\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- quorate-widgets.yaml\n"
	if files["vap/kustomization.yaml"] != kustomization {
		t.Errorf("got\n%s", files["vap/kustomization.yaml"])
	}
	rule := `        x-kubernetes-validations:
        - fieldPath: .spec.replicas
          message: replicas cannot be lowered while the widget is busy; wait for status.phase
            Idle (no-shrink)
          reason: FieldValueForbidden
`
	if !strings.Contains(files["crd/example.com_widgets.yaml"], rule) {
		t.Errorf("the CRD lacks the rule\n%s", files["crd/example.com_widgets.yaml"])
	}
	for _, kind := range []string{"kind: ValidatingAdmissionPolicy\n", "kind: ValidatingAdmissionPolicyBinding\n"} {
		if strings.Count(files["vap/quorate-widgets.yaml"], kind) != 1 {
			t.Errorf("want one %s in\n%s", kind, files["vap/quorate-widgets.yaml"])
		}
	}
}

// A second run changes nothing, not even a file's time, and a rule that is gone
// takes its files along; foreign files stay.
func TestPolicyGenerateAgain(t *testing.T) {
	dir := t.TempDir()
	if got := generate(t, widgets, dir); strings.Count(got.stderr, "wrote ") != 4 {
		t.Fatalf("got\n%s", got.stderr)
	}
	first := contents(t, dir)
	if got := generate(t, widgets, dir); got.code != 0 || got.stderr != "" {
		t.Errorf("got %d\n%s", got.code, got.stderr)
	}
	if !maps.Equal(first, contents(t, dir)) {
		t.Error("a second run gave other bytes")
	}
	foreign := filepath.Join(dir, "vap", "own.yaml")
	if err := os.WriteFile(foreign, []byte("kind: ValidatingAdmissionPolicy\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fewer := copyWidgets(t, nil)
	for _, name := range []string{"no-shrink.yaml", "no-shrink_test.yaml"} {
		if err := os.Remove(filepath.Join(fewer, name)); err != nil {
			t.Fatal(err)
		}
	}
	got := generate(t, fewer, dir)
	want := "wrote " + filepath.Join(dir, "crd/example.com_widgets.yaml") + "\n" +
		"removed " + filepath.Join(dir, "vap/kustomization.yaml") + "\n" +
		"removed " + filepath.Join(dir, "vap/quorate-widgets.yaml") + "\n"
	if got.code != 0 || got.stderr != want {
		t.Errorf("got %d\n%s", got.code, got.stderr)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Error(err)
	}
}

func TestPolicyGenerateUsage(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		want string
	}{
		"no rules":   {[]string{"--crds", "a", "--crd-out", "b", "--vap-out", "c"}, 2, "quorate: accepts 1 arg(s), received 0\n"},
		"no folders": {[]string{"--crds", "a", widgets}, 2, "quorate: --crds, --crd-out and --vap-out are all needed\n"},
		"no CRDs":    {[]string{"--crds", "nowhere", "--crd-out", "b", "--vap-out", "c", widgets}, 1, "quorate: no CRD matches [*.yaml] from nowhere\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := quorate(append([]string{"policy", "generate"}, test.args...)...)
			if got.code != test.code || got.stderr != test.want {
				t.Errorf("got %d, %s", got.code, got.stderr)
			}
		})
	}
}

// What is checked in is what the rules give.
func TestManifestsAreGenerated(t *testing.T) {
	dir := t.TempDir()
	got := quorate("policy", "generate", "--crds", "../../manifests/crd",
		"--crd-out", filepath.Join(dir, "crd"), "--vap-out", filepath.Join(dir, "vap"), "../../cel/rules")
	if got.code != 0 {
		t.Fatal(got.stderr)
	}
	for name, text := range contents(t, dir) {
		checkedIn := "../../manifests/" + strings.Replace(name, "vap/", "policy/", 1)
		data, err := os.ReadFile(checkedIn)
		if err != nil {
			t.Error(err)
			continue
		}
		if string(data) != text {
			t.Errorf("%s differs from what the rules give; run make generate", checkedIn)
		}
	}
}
