package agent

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/quorate/quorate/guard/rejoin"
)

// good is a configuration that every test starts from.
const good = `dataDir: /var/lib/etcd
peerURLs: ["https://{name}.main-peer.plant.svc:2380"]
clientURLs: ["https://{name}.main-peer.plant.svc:2379"]
cluster:
  token: 6a1f2a52
  id: cdf818194e3a8c32
  replicas: 3
  founders:
  - {name: main-0, peerURLs: ["https://main-0.main-peer.plant.svc:2380"]}
  clientEndpoints: ["https://main.plant.svc:2379"]
ledger:
- {memberID: 8e9e05c52164694d, clusterID: cdf818194e3a8c32, confirmed: true}
etcd:
  listen-peer-urls: https://0.0.0.0:2380
  snapshot-count: 10000
  log-outputs: ["{name}"]
  heartbeat-note: of {name}
`

func write(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "guard.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func loaded(t *testing.T, content string) *Config {
	t.Helper()
	c, err := Load(write(t, content))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoad(t *testing.T) {
	c := loaded(t, good)
	if want := []rejoin.Removal{{MemberID: 0x8e9e05c52164694d, ClusterID: 0xcdf818194e3a8c32, Confirmed: true}}; !reflect.DeepEqual(c.Ledger, want) || c.Cluster.ID != want[0].ClusterID {
		t.Errorf("ledger %+v, cluster %s", c.Ledger, c.Cluster.ID)
	}
	id, err := c.Identify("main-0")
	if want := (Identity{"main-0", 0, []string{"https://main-0.main-peer.plant.svc:2380"}, []string{"https://main-0.main-peer.plant.svc:2379"}}); err != nil || !reflect.DeepEqual(id, want) {
		t.Errorf("identity %+v, %v", id, err)
	}
	if s := c.self(id, 0); !s.Founder || s.Source || s.Replicas != 3 || s.Accepted || s.Founding.ClusterID == 0 {
		t.Errorf("self %+v", s)
	}
}

// Each mistake is named by its file and field, and is the user's (exit code 2).
func TestLoadRefuses(t *testing.T) {
	for old, c := range map[string]struct{ put, says string }{
		"dataDir: /var/lib/etcd":         {"", "dataDir: is missing"},
		"  token: 6a1f2a52":              {"", "cluster.token: is missing"},
		"cdf818194e3a8c32\n  replica":    {"xyz\n  replica", `"xyz" is no ID (up to 16 hex digits)`},
		"replicas: 3":                    {"replicas: -1", "cluster.replicas: -1 is below 0"},
		"https://main.plant.svc:2379\"]": {"https://main.plant.svc:2379/\"]", `cluster.clientEndpoints[0]: "https://main.plant.svc:2379/" is not http(s)://host:port`},
		"clientEndpoints: [\"https":      {"clientEndpoints: [\"HTTPS", `cluster.clientEndpoints[0]: "HTTPS://main.plant.svc:2379" is not http(s)://host:port`},
		"https://main.plant.svc:2379":    {"main.plant.svc:2379", `cluster.clientEndpoints[0]: "main.plant.svc:2379" is not http(s)://host:port`},
		"- {name: main-0, peer":          {"- {peer", "cluster.founders[0].name: is missing"},
		"{memberID: 8e9e05c52164694d":    {"{memberID: ''", "ledger[0]: memberID and clusterID are both needed"},
		"snapshot-count: 10000":          {"data-dir: /elsewhere", "etcd.data-dir: is decided by the agent: leave it out"},
		"heartbeat-note: of {name}":      {"max-request-bytes: 16777216", "etcd.max-request-bytes: 16777216 is more than 16773120, and the log of such requests could not be read"},
		"etcd:\n":                        {"tls: {keyFile: k, caFile: c}\netcd:\n", "tls.certFile: is missing"},
		"ledger:":                        {"leger:", `unknown field "leger"`},
		"peerURLs: [\"https://{name}":    {"peerURLs: []\nother: [\"https://{name}", `unknown field "other"`},
		"clientURLs: [":                  {"clientURLs: ]", "yaml"},
	} {
		t.Run(c.says, func(t *testing.T) {
			if !strings.Contains(good, old) {
				t.Fatalf("the configuration has no %q", old)
			}
			path := write(t, strings.Replace(good, old, c.put, 1))
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) || Code(err) != ExitUsage {
				t.Errorf("got %v (exit code %d)", err, Code(err))
			}
		})
	}
	path := filepath.Join(t.TempDir(), "nowhere.yaml")
	if _, err := Load(path); Code(err) != ExitUsage || !strings.Contains(err.Error(), path) {
		t.Errorf("no file: %v", err)
	}
}

func TestIdentifyRefuses(t *testing.T) {
	for _, name := range []string{"", "main", "main-", "main-x", "-1"} {
		if _, err := loaded(t, good).Identify(name); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A founder's list entry and the URLs that it advertises are compared by etcd.
func TestFoundersURLs(t *testing.T) {
	c := loaded(t, good)
	c.Cluster.Founders[0].PeerURLs = []string{"https://other.example.com:2380"}
	want := "cluster.founders[0].peerURLs are [https://other.example.com:2380] and peerURLs say [https://main-0.main-peer.plant.svc:2380] for main-0: etcd wants the same"
	if _, err := c.Identify("main-0"); Code(err) != ExitUsage || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
	if _, err := c.Identify("main-1"); err != nil {
		t.Errorf("another member: %v", err)
	}
}

// Before the cluster to join is recorded, only its own endpoints tell of it.
func TestEndpoints(t *testing.T) {
	c := &Config{Cluster: Cluster{ClientEndpoints: []string{"own"}, Source: []string{"source"}}}
	for id, want := range map[rejoin.ID][]string{0: {"source"}, 7: {"own", "source"}} {
		c.Cluster.ID = id
		if got := c.endpoints(); !reflect.DeepEqual(got, want) {
			t.Errorf("cluster %s: %v, not %v", id, got, want)
		}
	}
}

func TestUnreadableCertificates(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "tls.crt")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tls  TLS
		says string
	}{
		{TLS{filepath.Join(dir, "gone.crt"), file, file}, "tls.certFile and tls.keyFile: open " + filepath.Join(dir, "gone.crt")},
		{TLS{file, file, file}, "tls.certFile and tls.keyFile: tls: failed to find any PEM data"},
	} {
		if _, err := c.tls.config(); Code(err) != ExitUsage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got %v, want %s", err, c.says)
		}
	}
}
