package node

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
)

func TestReplace(t *testing.T) {
	p := paths{{"/run", "/x/run"}, {"/run/quorate", "/x/q"}, {"/dev/termination-log", "/x/m"}}.sorted()
	for text, want := range map[string]string{
		"--a=/run/quorate/etcd.yaml":                 "--a=/x/q/etcd.yaml",
		"/run/quorate":                               "/x/q",
		"/run/quorate-old /run/quorate.d":            "/x/run/quorate-old /x/run/quorate.d",
		"/var/run/quorate":                           "/var/run/quorate",
		"/runner":                                    "/runner",
		`{"dir":"/run"}`:                             `{"dir":"/x/run"}`,
		"--termination-message=/dev/termination-log": "--termination-message=/x/m",
		"": "",
	} {
		if got := p.replace(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestExpand(t *testing.T) {
	known := map[string]string{"A": "1", "B": "$(A)"}
	for text, want := range map[string]string{
		"$(A)$(B)": "1$(A)", "$$(A)": "$(A)", "$(C)": "$(C)", "$A $": "$A $", "$(A": "$(A", "$$$(A)": "$1",
	} {
		if got := expand(text, known); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

func TestParseName(t *testing.T) {
	for name, want := range map[string][3]string{
		"Main.Plant":                        {"", "main", "plant"},
		"main.plant.svc.":                   {"", "main", "plant"},
		"main.plant.svc.cluster.local":      {"", "main", "plant"},
		"m-0.peer.plant.svc":                {"m-0", "peer", "plant"},
		"m-0.peer.plant.svc.cluster.local.": {"m-0", "peer", "plant"},
		"m-0.peer.plant":                    {},
		"a.b.c.d.svc":                       {},
		"main":                              {},
		"":                                  {},
	} {
		host, service, namespace, ok := parseName(name)
		if got := [3]string{host, service, namespace}; got != want || ok != (want != [3]string{}) {
			t.Errorf("%q is %q (%t), want %q", name, got, ok, want)
		}
	}
}

func TestProgramName(t *testing.T) {
	for _, c := range []struct {
		image   string
		command []string
		want    string
	}{
		{"registry.example.com:5000/etcd:v3.7.3", nil, "etcd 3.7"},
		{"registry.example.com/other:3.5.35-0", []string{"/usr/local/bin/etcd"}, "etcd 3.5"},
		{"registry.example.com/etcd:v3.6.1@sha256:abc", []string{"etcd"}, "etcd 3.6"},
		{"registry.example.com/etcd:latest", []string{"etcd"}, "etcd of no version"},
		{"registry.example.com/quorate:v1.0.0", []string{"/quorate-guard"}, "quorate-guard"},
		{"registry.example.com/quorate:v1.0.0", nil, "quorate"},
	} {
		if got := programName(c.image, c.command); got != c.want {
			t.Errorf("%s %v is %q, want %q", c.image, c.command, got, c.want)
		}
	}
}

func TestThreshold(t *testing.T) {
	var th threshold
	for i, step := range []struct{ success, changed, ok bool }{
		{false, false, false}, {true, true, true}, {true, false, true}, {false, false, true},
		{true, false, true}, {false, false, true}, {false, true, false}, {true, true, true},
	} {
		if changed, ok := th.count(step.success, 1, 2); changed != step.changed || ok != step.ok {
			t.Errorf("step %d: changed %t, ok %t; want %+v", i, changed, ok, step)
		}
	}
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []files{
		{"a": []byte("1"), "deep/b": []byte("2")},
		{"a": []byte("3")},
		{"a": []byte("3")},
		{"c": []byte("4"), "deep/b": []byte("5")},
		{},
	} {
		must(t, publish(dir, content))
		entries, err := filepath.Glob(filepath.Join(dir, "[a-z]*"))
		if err != nil || len(entries) != len(content) {
			t.Errorf("files are %v, %v; want those of %v", entries, err, content)
		}
		for name, want := range content {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(want) {
				t.Errorf("%s is %q, %v; want %q", name, got, err, want)
			}
		}
	}
	if turns, err := filepath.Glob(filepath.Join(dir, turnPrefix+"*")); err != nil || len(turns) != 1 {
		t.Errorf("old files are left: %v, %v", turns, err)
	}
}

func TestAddressesComeBackLate(t *testing.T) {
	b := &block{first: 8}
	seen := map[string]bool{}
	for range perX * blockSize {
		seen[b.nextPod()] = true
	}
	if len(seen) != perX*blockSize || !seen["10.77.8.2"] || !seen["10.77.11.254"] || b.nextPod() != "10.77.8.2" {
		t.Errorf("%d addresses", len(seen))
	}
}

// TestKubeletIsOfOneNode: what else is refused.
func TestKubeletIsOfOneNode(t *testing.T) {
	options := Options{Config: &rest.Config{}, Dir: ".", Programs: func(string, []string) (string, error) { return "", nil }, Kubelet: &Kubelet{}, Nodes: []string{"a", "b"}}
	_, err := options.complete()
	if want := "options of the nodes: a Kubelet is that of one node, and there are 2"; !errors.Is(err, ErrOptions) || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	if err := nodes.Restart(t.Context()); !errors.Is(err, ErrOptions) {
		t.Errorf("a restart of all nodes: %v", err)
	}
}
