package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quorate/quorate/internal/agent"
)

// What cannot be used is named by file and field, ends with 2, and nothing is
// touched.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string, flags []string) []string
		says   string
	}{
		"no configuration": {func(t *testing.T, dir string, f []string) []string {
			return append(f, "--config", filepath.Join(dir, "gone.yaml"))
		}, "gone.yaml: no such file"},
		"a field that is not known": {func(t *testing.T, dir string, f []string) []string { return put(t, dir, f, config+"other: 1\n") }, `guard.yaml: error unmarshaling JSON: while decoding JSON: json: unknown field "other"`},
		"no token": {func(t *testing.T, dir string, f []string) []string {
			return put(t, dir, f, strings.Replace(config, "token: t", "", 1))
		}, "guard.yaml: cluster.token: is missing"},
		"no certificate": {func(t *testing.T, dir string, f []string) []string {
			return put(t, dir, f, config+"tls: {certFile: /gone.crt, keyFile: /gone.key, caFile: /gone.ca}\n"+"ledger: []\n")
		}, "tls.certFile and tls.keyFile: open /gone.crt: no such file"},
		"a file in the place of the data": {func(t *testing.T, dir string, f []string) []string {
			if err := os.WriteFile(filepath.Join(dir, "data"), []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			return f
		}, "is a file and should be a folder"},
		"no ordinal":         {func(_ *testing.T, _ string, f []string) []string { return append(f, "--name", "main") }, `the name "main" does not end in an ordinal`},
		"an unknown flag":    {func(_ *testing.T, _ string, f []string) []string { return append(f, "--fast") }, "unknown flag: --fast"},
		"an argument":        {func(_ *testing.T, _ string, f []string) []string { return append(f, "main-0") }, `unknown command "main-0"`},
		"no time for a list": {func(_ *testing.T, _ string, f []string) []string { return append(f, "--list-timeout", "0s") }, "--list-timeout must be above 0"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, flags := place(t, config)
			flags = c.change(t, dir, flags)
			before := listing(t, dir)
			code, stdout, stderr := prepare(dir, flags)
			if code != agent.ExitUsage || !strings.Contains(stderr, c.says) || stdout != "" {
				t.Errorf("exit code %d, %q on stderr, %q on stdout", code, stderr, stdout)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("touched: %s, and before %s", after, before)
			}
		})
	}
}

func put(t *testing.T, dir string, flags []string, content string) []string {
	t.Helper()
	content = strings.ReplaceAll(content, "DATA", filepath.Join(dir, "data"))
	// An endpoint, so that certificates are needed.
	content = strings.Replace(content, "replicas: 1", "replicas: 1\n  clientEndpoints: [\"https://127.0.0.1:1\"]", 1)
	if err := os.WriteFile(filepath.Join(dir, "guard.yaml"), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return flags
}

func TestWrongPermissions(t *testing.T) {
	dir, flags := place(t, config)
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o500); err != nil {
		t.Fatal(err)
	}
	for d := dir; d != os.TempDir() && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"check"}, flags...)...)
	cmd.Env = append(os.Environ(), asNobody+"=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != agent.ExitUsage || !strings.Contains(string(out), "dataDir: "+data+" (dr-x------) cannot be read and written by user") {
		t.Errorf("%v\n%s", err, out)
	}
}
