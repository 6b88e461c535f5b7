package agent

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/guard/rejoin"
)

// start says how etcd is to start: its initial cluster and that one's state.
type start struct {
	state   string // new or existing
	cluster []string
}

// restart is for a disk with a WAL: etcd takes the members from there.
func (c *Config) restart(id Identity) start { return start{"existing", entries(id.Name, id.PeerURLs)} }

func (c *Config) founding() start {
	s := start{state: "new"}
	for _, f := range c.Cluster.Founders {
		s.cluster = append(s.cluster, entries(f.Name, f.PeerURLs)...)
	}
	return s
}

// joining lists all members by their peer URLs, as etcd compares them. The names of
// others do not count, but etcd takes entries of one name for one member: one that has
// no name yet, or that of another as in a source of our name, gets its ID for one.
func (c *Config) joining(id Identity, members []rejoin.Member) start {
	s := start{state: "existing"}
	own := rejoin.Facts{Self: c.self(id, 0)}
	taken := map[string]bool{id.Name: true}
	for _, m := range members {
		name := m.Name
		switch {
		case own.Mine(m):
			name = id.Name
		case name == "" || taken[name]:
			name = "unnamed-" + m.ID.String()
		}
		taken[name] = true
		s.cluster = append(s.cluster, entries(name, m.PeerURLs)...)
	}
	return s
}

func entries(name string, peerURLs []string) []string {
	var out []string
	for _, u := range peerURLs {
		out = append(out, name+"="+u)
	}
	return out
}

// etcdConfig is etcd's configuration file.
func (c *Config) etcdConfig(id Identity, s start) ([]byte, error) {
	options := maps.Clone(c.Etcd)
	if options == nil {
		options = map[string]any{}
	}
	for option, value := range options {
		if text, ok := value.(string); ok {
			options[option] = strings.ReplaceAll(text, placeholder, id.Name)
		}
	}
	maps.Copy(options, map[string]any{
		"name":                        id.Name,
		"data-dir":                    c.DataDir,
		"initial-advertise-peer-urls": strings.Join(id.PeerURLs, ","),
		"advertise-client-urls":       strings.Join(id.ClientURLs, ","),
		"initial-cluster":             strings.Join(s.cluster, ","),
		"initial-cluster-state":       s.state,
		"initial-cluster-token":       c.Cluster.Token,
	})
	content, err := yaml.Marshal(options)
	if err != nil {
		return nil, fmt.Errorf("print etcd's configuration: %w", err)
	}
	return content, nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, content []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temporary.Name()) // it is gone after the renaming
	_, err = temporary.Write(content)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
