package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRefusals(t *testing.T) {
	root := repository(t)
	write(t, filepath.Join(root, "test/tools/kubernetes-1.8/go.mod"), "module tools\n")
	write(t, filepath.Join(root, "test/tools/etcd-3.2/go.mod"), "module tools\n\nrequire go.etcd.io/etcd/server/v3 v3.2.0\n")
	empty := t.TempDir()
	for _, c := range []struct {
		name, assets string
		args         []string
		want         string
	}{
		{"a minor without a module", "", []string{"--root", root, "--version", "1.5"},
			"no tool module " + filepath.Join(root, "test/tools/kubernetes-1.5") + ": this version cannot be built here: "},
		{"a module without the version", "", []string{"--root", root, "--version", "1.8"},
			filepath.Join(root, "test/tools/kubernetes-1.8/go.mod") + ": no version of k8s.io/kubernetes is required there"},
		{"an etcd without a module", "", []string{"--root", root, "--etcd", "3.3"},
			"no tool module " + filepath.Join(root, "test/tools/etcd-3.3") + ": this version cannot be built here: "},
		{"an etcd module without etcdutl", "", []string{"--root", root, "--etcd", "3.2"},
			filepath.Join(root, "test/tools/etcd-3.2/go.mod") + ": no version of go.etcd.io/etcd/etcdutl/v3 is required there"},
		{"both at once", "", []string{"--root", root, "--etcd", "3.1", "--version", "1.9"}, "usage"},
		{"a store and more", "", []string{"--root", root, "--s3", "--etcd", "3.1"}, "usage"},
		{"a store without a module", "", []string{"--root", root, "--s3"},
			"no tool module " + filepath.Join(root, "test/tools/versitygw") + ": this version cannot be built here: "},
		{"no repository", "", []string{"--root", empty},
			"find the repository: no test/tools/etcd/go.mod in " + empty + " or above it"},
		{"an unknown flag", "", []string{"--verison", "1.9"}, "usage"},
		{"an argument too many", "", []string{"1.9"}, "usage"},
		{"assets without a binary", empty, nil,
			"KUBEBUILDER_ASSETS=" + empty + ": kube-apiserver is missing there: put it in, or unset the variable to have it built: "},
		{"assets by a relative path", "bin", nil,
			"KUBEBUILDER_ASSETS=bin: give it as an absolute path: the tests run in many folders"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv(assetsVariable, c.assets)
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), c.args, &stdout, &stderr)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
			if stdout.Len() > 0 {
				t.Errorf("stdout has %q after an error", stdout.String())
			}
		})
	}
}

func TestGivenAssetsAreUsedAsTheyAre(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"kube-apiserver", "etcd", "kubectl"} {
		write(t, filepath.Join(dir, name), "")
	}
	t.Setenv(assetsVariable, dir)
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"--root", t.TempDir()}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != dir+"\n" {
		t.Errorf("stdout is %q, want %q", stdout.String(), dir)
	}
}

func TestTheNewestMinorIsTheDefault(t *testing.T) {
	tools := t.TempDir()
	for _, minor := range []string{"1.9", "1.34", "1.37", "1.x"} {
		if err := os.Mkdir(filepath.Join(tools, "kubernetes-"+minor), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := newestMinor(tools); err != nil || got != "1.37" {
		t.Errorf("newest minor is %q, %v; want 1.37", got, err)
	}
}

func TestEveryMinorOfThisRepositoryHasAPlan(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	for _, minor := range []string{"1.34", "1.37"} {
		p, err := makePlan(root, minor)
		if err != nil {
			t.Fatal(err)
		}
		if base := filepath.Base(p.dir); !strings.HasPrefix(base, "k8s-"+minor+".") || len(p.targets) != 4 {
			t.Errorf("plan of %s: folder %s, %d targets", minor, base, len(p.targets))
		}
	}
}

func TestEveryEtcdOfThisRepositoryHasAPlan(t *testing.T) {
	root, err := findRoot("")
	if err != nil {
		t.Fatal(err)
	}
	plans, err := etcdPlans(root, allMinors, false)
	if err != nil {
		t.Fatal(err)
	}
	var minors []string
	for _, p := range plans {
		minors = append(minors, filepath.Base(p.dir)[:len("etcd-3.5")])
		if len(p.targets) != 2 || p.targets[0].version != p.targets[1].version {
			t.Errorf("plan of %s: %+v", filepath.Base(p.dir), p.targets)
		}
	}
	if got := strings.Join(minors, " "); got != "etcd-3.5 etcd-3.6 etcd-3.7" {
		t.Errorf("plans for %q", got)
	}
	if _, err := etcdMinors(t.TempDir()); err == nil {
		t.Error("a folder without tool modules has minors")
	}
}

func TestProgressText(t *testing.T) {
	s := &step{name: "[1/4] etcd v3.1.4"}
	if got := s.text(61 * time.Second); got != "[1/4] etcd v3.1.4: building for 1m1s" {
		t.Error(got)
	}
	s.downloaded.Add(3)
	s.compiled.Add(40)
	if got := s.text(0); got != "[1/4] etcd v3.1.4: building for 0s, 3 modules downloaded, 40 packages compiled" {
		t.Error(got)
	}
}

func TestATerminalIsRedrawnAndAFileIsNot(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		begin    string
		end      string
	}{
		{true, "\r\x1b[Kx: building\r\x1b[Kx: built in ", "\n"},
		{false, "x: building\nx: built in ", "\n"},
	} {
		var out bytes.Buffer
		p := &progress{out: &out, terminal: c.terminal, every: time.Hour}
		p.start("x").end(nil)
		if got := out.String(); !strings.HasPrefix(got, c.begin) || !strings.HasSuffix(got, c.end) {
			t.Errorf("terminal %t: %q", c.terminal, got)
		}
	}
}

func TestPeriodicLines(t *testing.T) {
	w := &signalWriter{said: make(chan string, 8)}
	s := (&progress{out: w, every: time.Millisecond}).start("x")
	if first := <-w.said; first != "x: building\n" {
		t.Errorf("first line is %q", first)
	}
	if next := <-w.said; next != "x: building for 0s\n" {
		t.Errorf("periodic line is %q", next)
	}
	go func() {
		for range w.said { // let the ticker write until the step ends
		}
	}()
	s.end(nil)
	close(w.said)
}

func TestFollowSortsWhatGoSays(t *testing.T) {
	s := &step{}
	said := "go: downloading k8s.io/api v0.37.2\nk8s.io/api/core/v1\nerrors\n# k8s.io/api/core/v1\nx.go:1:2: undefined: y\n"
	complaints := follow(strings.NewReader(said), s)
	if s.downloaded.Load() != 1 || s.compiled.Load() != 2 {
		t.Errorf("downloaded %d, compiled %d", s.downloaded.Load(), s.compiled.Load())
	}
	if got := strings.Join(complaints, "|"); got != "# k8s.io/api/core/v1|x.go:1:2: undefined: y" {
		t.Errorf("complaints are %q", got)
	}
}
