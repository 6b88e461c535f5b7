package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/guard/rejoin"
)

func options(t *testing.T, c *Config, name string, begin func(Identity) start) map[string]any {
	t.Helper()
	id, err := c.Identify(name)
	if err != nil {
		t.Fatal(err)
	}
	content, err := c.etcdConfig(id, begin(id))
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := yaml.Unmarshal(content, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEtcdConfig(t *testing.T) {
	c := loaded(t, good)
	founder := options(t, c, "main-0", func(Identity) start { return c.founding() })
	for option, want := range map[string]any{
		"name": "main-0", "data-dir": "/var/lib/etcd", "initial-cluster-token": "6a1f2a52",
		"initial-cluster": "main-0=https://main-0.main-peer.plant.svc:2380", "initial-cluster-state": "new",
		"initial-advertise-peer-urls": "https://main-0.main-peer.plant.svc:2380",
		"advertise-client-urls":       "https://main-0.main-peer.plant.svc:2379",
		"listen-peer-urls":            "https://0.0.0.0:2380", "snapshot-count": float64(10000), "heartbeat-note": "of main-0",
	} {
		if founder[option] != want {
			t.Errorf("%s is %v, not %v", option, founder[option], want)
		}
	}
	if c.Etcd["heartbeat-note"] != "of {name}" {
		t.Error("the configuration itself was changed")
	}
}

// A learner's initial cluster names every member by its peer URLs, also those that
// have no name yet, and those of a source that have ours.
func TestEtcdConfigOfALearner(t *testing.T) {
	c := loaded(t, good)
	members := []rejoin.Member{
		{ID: 0xa, Name: "main-0", PeerURLs: []string{"https://main-0.main-peer.plant.svc:2380", "https://10.0.0.1:2380"}},
		{ID: 0xb, PeerURLs: []string{"https://main-1.main-peer.plant.svc:2380"}, Learner: true},
		{ID: 0xc, PeerURLs: []string{"https://main-2.main-peer.plant.svc:2380"}},
		{ID: 0xd, Name: "main-0", PeerURLs: []string{"https://main-0.example.com:2380"}},
		{ID: 0xe, Name: "main-1", PeerURLs: []string{"https://main-1.example.com:2380"}},
	}
	learner := options(t, c, "main-1", func(id Identity) start { return c.joining(id, members) })
	want := "main-0=https://main-0.main-peer.plant.svc:2380,main-0=https://10.0.0.1:2380,main-1=https://main-1.main-peer.plant.svc:2380,unnamed-c=https://main-2.main-peer.plant.svc:2380,unnamed-d=https://main-0.example.com:2380,unnamed-e=https://main-1.example.com:2380"
	if learner["initial-cluster"] != want || learner["initial-cluster-state"] != "existing" {
		t.Errorf("%v, %v", learner["initial-cluster-state"], learner["initial-cluster"])
	}
}

// disk answers for a database.
type disk struct{ applied rejoin.Answer }

func (d disk) Applied(context.Context, string) rejoin.Witness {
	return rejoin.Witness{Answer: d.applied}
}
func (disk) Tombstone(context.Context, string, rejoin.ID) rejoin.Witness { return rejoin.Witness{} }
func (disk) Log(context.Context, string, rejoin.ID) rejoin.Witness       { return rejoin.Witness{} }

// Files without a WAL are put aside, each time under another name. Those of an etcd
// that has applied nothing stay.
func TestClear(t *testing.T) {
	c := &Config{DataDir: t.TempDir()}
	db := filepath.Join(c.DataDir, "member", "snap", "db")
	put := func(file string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte("data"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	clear := func(applied rejoin.Answer, stays bool) {
		t.Helper()
		if err := c.clear(t.Context(), disk{applied}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(db); (err == nil) != stays {
			t.Errorf("applied %s: %v, and it stays: %t", applied, err, stays)
		}
	}
	clear(rejoin.Unreadable, false) // nothing is there
	put(db)
	clear(rejoin.No, true)
	clear(rejoin.Yes, false)
	put(db)
	clear(rejoin.Unreadable, false)
	put(db)
	put(filepath.Join(filepath.Dir(db), "0000000000000002-0000000000000007.snap"))
	clear(rejoin.No, false)
	for i := range 3 {
		kept, err := os.ReadFile(filepath.Join(c.DataDir, fmt.Sprintf("%s.%d", leftover, i), "snap", "db"))
		if err != nil || string(kept) != "data" {
			t.Errorf("it was not kept: %q, %v", kept, err)
		}
	}
}

func TestCheckDataDir(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	for _, path := range []string{file, filepath.Join(dir, "data", "member", "wal")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, says := range map[string]string{
		filepath.Join(dir, "new"):     "",
		dir:                           "",
		file:                          "dataDir: " + file + " is a file and should be a folder",
		filepath.Join(dir, "data"):    "dataDir: " + filepath.Join(dir, "data", "member", "wal") + " is a file and should be a folder",
		filepath.Join(file, "below"):  "not a directory",
		strings.Repeat("long/", 1000): "file name too long",
	} {
		err := (&Config{DataDir: path}).checkDataDir()
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says) || Code(err) != ExitUsage) {
			t.Errorf("%.40s: %v, want %q", path, err, says)
		}
	}
}

func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "etcd.yaml")
	for _, content := range []string{"first", "second"} {
		if err := replaceFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	if err := replaceFile(filepath.Join(dir, "nowhere", "etcd.yaml"), nil); err == nil {
		t.Error("a folder that is not there was written to")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || !slices.ContainsFunc(left, func(e os.DirEntry) bool { return e.Name() == "etcd.yaml" }) {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
