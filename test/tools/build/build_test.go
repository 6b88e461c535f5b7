package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository lays out a small repository whose "Kubernetes" and "etcd" are
// tiny programs, so that the real go command builds them in a second.
func repository(t *testing.T) string {
	t.Helper()
	t.Setenv(assetsVariable, "")
	t.Setenv("GOFLAGS", "")
	root := t.TempDir()
	hello := "package main\n\nimport \"k8s.io/component-base/version\"\n\nfunc main() { println(version.Text()) }\n"
	files := map[string]string{
		"test/tools/kubernetes-1.9/go.mod": "module tools\n\ngo 1.26.0\n\nrequire (\n\tk8s.io/component-base v0.9.3\n\tk8s.io/kubernetes v1.9.3\n)\n" +
			"replace (\n\tk8s.io/component-base => ./base\n\tk8s.io/kubernetes => ./kube\n)\n",
		"test/tools/kubernetes-1.9/base/go.mod":          "module k8s.io/component-base\n\ngo 1.26.0\n",
		"test/tools/kubernetes-1.9/base/version/text.go": "package version\n\nvar gitVersion, gitMajor, gitMinor string\n\nfunc Text() string { return gitVersion + \" \" + gitMajor + \" \" + gitMinor }\n",
		"test/tools/kubernetes-1.9/kube/go.mod":          "module k8s.io/kubernetes\n\ngo 1.26.0\n\nrequire k8s.io/component-base v0.9.3\n",
		"test/tools/etcd/go.mod":                         "module tools\n\ngo 1.26.0\n\nrequire go.etcd.io/etcd/server/v3 v3.1.4\n\nreplace go.etcd.io/etcd/server/v3 => ./etcd\n",
		"test/tools/etcd/etcd/go.mod":                    "module go.etcd.io/etcd/server/v3\n\ngo 1.26.0\n",
		"test/tools/etcd/etcd/main.go":                   "package main\n\nfunc main() {}\n",
	}
	for _, version := range []string{"3.0.9", "3.1.4"} {
		dir := "test/tools/etcd-" + version[:3]
		files[dir+"/go.mod"] = "module tools\n\ngo 1.26.0\n\nrequire (\n\tgo.etcd.io/etcd/etcdutl/v3 v" + version + "\n\tgo.etcd.io/etcd/server/v3 v" + version + "\n)\n" +
			"replace (\n\tgo.etcd.io/etcd/etcdutl/v3 => ./util\n\tgo.etcd.io/etcd/server/v3 => ../etcd/etcd\n)\n"
		files[dir+"/util/go.mod"] = "module go.etcd.io/etcd/etcdutl/v3\n\ngo 1.26.0\n"
		files[dir+"/util/main.go"] = "package main\n\nfunc main() {}\n"
	}
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kubectl"} {
		files["test/tools/kubernetes-1.9/kube/cmd/"+name+"/main.go"] = hello
	}
	for name, content := range files {
		write(t, filepath.Join(root, name), content)
	}
	return root
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// build runs the program and answers what it printed and on which binaries it worked.
func build(t *testing.T, root string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out, progress bytes.Buffer
	err = run(ctx, append(args, "--root", root), &out, &progress)
	return out.String(), progress.String(), err
}

func TestBuildsOnceAndReports(t *testing.T) {
	root := repository(t)
	stdout, stderr, err := build(t, root)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "bin", "k8s-1.9.3")
	if stdout != dir+"\n" {
		t.Errorf("stdout is %q, want the folder alone: %q", stdout, dir)
	}
	for _, name := range []string{"[1/4] kube-apiserver v1.9.3", "[2/4] kube-controller-manager v1.9.3", "[3/4] kubectl v1.9.3", "[4/4] etcd v3.1.4"} {
		if !strings.Contains(stderr, name+": building\n") || !strings.Contains(stderr, name+": built in ") {
			t.Errorf("no beginning or end for %q in:\n%s", name, stderr)
		}
	}
	said, err := exec.CommandContext(t.Context(), filepath.Join(dir, "kubectl")).CombinedOutput()
	if err != nil || string(said) != "v1.9.3 1 9\n" {
		t.Errorf("the binary reports %q (%v), want its version", said, err)
	}
	if _, stderr, err = build(t, root); err != nil || stderr != "" {
		t.Errorf("the second run built again: %q, %v", stderr, err)
	}
}

func TestBuildsEachEtcdBesideTheControlPlane(t *testing.T) {
	root := repository(t)
	t.Setenv(assetsVariable, t.TempDir()) // has no etcd of these versions
	older, newer := filepath.Join(root, "bin", "etcd-3.0.9"), filepath.Join(root, "bin", "etcd-3.1.4")
	for _, c := range []struct {
		minor, stdout, stderr string
	}{
		{"3.1", newer + "\n", "[1/2] etcd v3.1.4: building\n"},
		{"all", older + "\n" + newer + "\n", "[2/2] etcdutl v3.0.9: building\n"},
		{"all", older + "\n" + newer + "\n", ""},
	} {
		stdout, stderr, err := build(t, root, "--etcd", c.minor)
		if err != nil || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || (c.stderr == "" && stderr != "") {
			t.Errorf("--etcd %s: printed %q and %q (%v), want %q and %q", c.minor, stdout, stderr, err, c.stdout, c.stderr)
		}
	}
	for _, path := range []string{older + "/etcd", older + "/etcdutl", newer + "/etcd", newer + "/etcdutl"} {
		if err := exec.CommandContext(t.Context(), path).Run(); err != nil {
			t.Error(err)
		}
	}
}

func TestBuildsAgainWhatChanged(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, root string)
		want   []string
	}{
		{"the module of etcd", func(t *testing.T, root string) {
			write(t, filepath.Join(root, "test/tools/etcd/go.sum"), "\n")
		}, []string{"etcd v3.1.4"}},
		{"a binary is gone", func(t *testing.T, root string) {
			if err := os.Remove(filepath.Join(root, "bin/k8s-1.9.3/kubectl")); err != nil {
				t.Fatal(err)
			}
		}, []string{"kubectl v1.9.3"}},
		{"a stamp of another build", func(t *testing.T, root string) {
			write(t, filepath.Join(root, "bin/k8s-1.9.3/.kubectl.stamp"), "other\n")
		}, []string{"kubectl v1.9.3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := repository(t)
			if _, _, err := build(t, root); err != nil {
				t.Fatal(err)
			}
			c.change(t, root)
			_, stderr, err := build(t, root, "--version", "1.9")
			if err != nil {
				t.Fatal(err)
			}
			var built []string
			for line := range strings.Lines(stderr) {
				if name, ok := strings.CutSuffix(line, ": building\n"); ok {
					built = append(built, name[len("[1/4] "):])
				}
			}
			if strings.Join(built, ",") != strings.Join(c.want, ",") {
				t.Errorf("built %q, want %q", built, c.want)
			}
		})
	}
}

func TestAFailedBuildSaysWhy(t *testing.T) {
	root := repository(t)
	main := filepath.Join(root, "test/tools/kubernetes-1.9/kube/cmd/kubectl/main.go")
	write(t, main, "package main\n\nfunc main() { nowhere() }\n")
	_, stderr, err := build(t, root)
	if err == nil || !strings.Contains(err.Error(), "undefined: nowhere") || !strings.HasPrefix(err.Error(), "build kubectl v1.9.3 with ") {
		t.Errorf("error is %v, want the compiler's own words", err)
	}
	if !strings.Contains(stderr, "[3/4] kubectl v1.9.3: failed after ") {
		t.Errorf("progress does not say that it failed:\n%s", stderr)
	}
	if _, err := os.Stat(filepath.Join(root, "bin/k8s-1.9.3/.kubectl.stamp")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a failed build left a stamp: %v", err)
	}
}

func TestWhatIsThereIsUsedDuringAnotherBuild(t *testing.T) {
	root := repository(t)
	if _, _, err := build(t, root); err != nil {
		t.Fatal(err)
	}
	unlock, err := lock(t.Context(), filepath.Join(root, "bin", ".tools.lock"), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if _, stderr, err := build(t, root); err != nil || stderr != "" {
		t.Errorf("said %q, %v", stderr, err)
	}
}

func TestWaitsForAnotherBuild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := lock(t.Context(), path, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	waiting := &signalWriter{said: make(chan string, 1)}
	second := make(chan error, 1)
	go func() {
		free, err := lock(t.Context(), path, waiting)
		if err == nil {
			free()
		}
		second <- err
	}()
	if said := <-waiting.said; said != "tools: another build is running; waiting for it\n" {
		t.Errorf("said %q while waiting", said)
	}
	select {
	case err := <-second:
		t.Fatalf("the second build did not wait: %v", err)
	default:
	}
	unlock()
	if err := <-second; err != nil {
		t.Error(err)
	}
}

// signalWriter hands on what is written, so that a test can wait for it.
type signalWriter struct{ said chan string }

func (w *signalWriter) Write(p []byte) (int, error) {
	w.said <- string(p)
	return len(p), nil
}
