package agent

import (
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/guard/rejoin"
)

// ErrConfig marks a configuration that cannot be used; the error names the file
// and the field. Nothing was touched.
var ErrConfig = errors.New("configuration")

// Config is the agent's configuration file, YAML, the same for every member of an
// Etcd: {name} in a URL or in an option of etcd stands for the member's name.
type Config struct {
	// DataDir is etcd's data directory.
	DataDir string `json:"dataDir"`
	// PeerURLs and ClientURLs are those that a member advertises.
	PeerURLs   []string `json:"peerURLs"`
	ClientURLs []string `json:"clientURLs"`
	Cluster    Cluster  `json:"cluster"`
	// Ledger holds the removals that the controller has intended or confirmed.
	Ledger []rejoin.Removal `json:"ledger,omitempty"`
	// Accept lists member IDs that a person vouches for: they were never removed, and
	// start although a witness cannot be read while the cluster is silent.
	Accept []rejoin.ID `json:"accept,omitempty"`
	// TLS is the agent's own client certificate; absent for plain HTTP.
	TLS *TLS `json:"tls,omitempty"`
	// Etcd holds further options of etcd's own configuration file.
	Etcd map[string]any `json:"etcd,omitempty"`
}

// Cluster says where members belong.
type Cluster struct {
	// Token is the initial cluster token: the UID of the Etcd, so that one that was
	// recreated under the same name has other IDs.
	Token string `json:"token"`
	// ID is recorded by the controller once the cluster has formed; empty before.
	ID rejoin.ID `json:"id,omitempty"`
	// Replicas is how many ordinals belong, from 0.
	Replicas int `json:"replicas"`
	// Founders form the cluster together; empty if it joins a source.
	Founders []Founder `json:"founders,omitempty"`
	// ClientEndpoints answer for the cluster; Source for the one to join, while the
	// join is not complete.
	ClientEndpoints []string `json:"clientEndpoints,omitempty"`
	Source          []string `json:"source,omitempty"`
}

// Founder is a member of the initial cluster.
type Founder struct {
	Name     string   `json:"name"`
	PeerURLs []string `json:"peerURLs"`
}

// TLS names the files of a client certificate and of the authorities that etcd's
// certificates are verified by. They are read anew for each connection.
type TLS struct {
	CertFile string `json:"certFile"`
	KeyFile  string `json:"keyFile"`
	CAFile   string `json:"caFile"`
}

// Load reads and checks a configuration file.
func Load(path string) (*Config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c := &Config{}
	if err := yaml.UnmarshalStrict(content, c); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, path, err)
	}
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, path, err)
	}
	return c, nil
}
