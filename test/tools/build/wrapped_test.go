package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wrappable adds to a small repository what a wrapped build needs.
func wrappable(t *testing.T) string {
	t.Helper()
	root := repository(t)
	hello := "package main\n\nfunc main() { print(\"main\\n\") }\n"
	for name, content := range map[string]string{
		"go.mod":                              "module example.com/product\n\ngo 1.26.0\n",
		"cmd/quorate/main.go":                 hello,
		"cmd/quorate-guard/main.go":           hello,
		"cmd/quorate-guard-reader/main.go":    hello,
		"test/tools/etcd-3.1/wrapped/main.go": hello,
		"test/node/wrap/wrap.go":              "package wrap\n\nfunc init() { print(\"wrapped \") }\n",
		"test/node/wrap/wrap_test.go":         "package wrap\n\nthis is no Go\n",
	} {
		write(t, filepath.Join(root, name), content)
	}
	return root
}

// says runs a program that was built.
func says(t *testing.T, path, want string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), path).CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%s says %q (%v), want %q", filepath.Base(path), out, err, want)
	}
}

func TestWrapsTheProduct(t *testing.T) {
	root := wrappable(t)
	dir := filepath.Join(root, "bin", "wrapped")
	stdout, _, err := build(t, root, "--wrapped")
	if err != nil || stdout != dir+"\n" {
		t.Fatalf("printed %q, %v; want %q", stdout, err, dir)
	}
	says(t, filepath.Join(dir, "quorate"), "wrapped main\n")
	says(t, filepath.Join(dir, "quorate-guard"), "wrapped main\n")
	says(t, filepath.Join(dir, "quorate-guard-reader"), "main\n")
	write(t, filepath.Join(root, "cmd/quorate/main.go"), "package main\n\nfunc main() { print(\"newer\\n\") }\n")
	if _, _, err := build(t, root, "--wrapped"); err != nil {
		t.Fatal(err)
	}
	says(t, filepath.Join(dir, "quorate"), "wrapped newer\n")
}

func TestWrapsEtcdAgainWhenTheWrapperChanged(t *testing.T) {
	root := wrappable(t)
	etcd := filepath.Join(root, "bin", "wrapped", "etcd-3.1.4")
	for _, c := range []struct{ wrap, says, built string }{
		{"first ", "first main\n", "[1/1] etcd v3.1.4: building\n"},
		{"first ", "first main\n", ""},
		{"second ", "second main\n", "[1/1] etcd v3.1.4: building\n"},
	} {
		write(t, filepath.Join(root, "test/node/wrap/wrap.go"), "package wrap\n\nfunc init() { print(\""+c.wrap+"\") }\n")
		stdout, stderr, err := build(t, root, "--wrapped", "--etcd", "3.1")
		if err != nil || stdout != etcd+"\n" || !strings.HasPrefix(stderr, c.built) || c.built == "" && stderr != "" {
			t.Errorf("printed %q and %q, %v", stdout, stderr, err)
		}
		says(t, filepath.Join(etcd, "etcd"), c.says)
	}
}
