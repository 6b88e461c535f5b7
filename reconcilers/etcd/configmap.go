package etcd

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
)

const (
	configKey = "guard.yaml"
	configDir = "/etc/quorate"
	runDir    = "/run/quorate"
	dataMount = "/var/lib/etcd"
	dataDir   = dataMount + "/data" // a folder of its own: etcd wants it for itself alone
	clientTLS = "/etc/etcd/client-tls"
	agentTLS  = "/etc/etcd/agent-tls"
	peerTLS   = "/etc/etcd/peer-tls"
)

// configMap is what the agents of all members read: who belongs, and who was removed.
func (c *cycle) configMap() (*corev1.ConfigMap, error) {
	config, err := c.agentConfig()
	if err != nil {
		return nil, err
	}
	content, err := yaml.Marshal(config)
	if err != nil {
		return nil, fmt.Errorf("print the agents' configuration: %w", err)
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: c.meta(c.names.configMap()),
		Data:       map[string]string{configKey: string(content)},
	}, nil
}

func (c *cycle) agentConfig() (*agent.Config, error) {
	e := c.etcd
	config := &agent.Config{
		DataDir:    dataDir,
		PeerURLs:   []string{c.names.peerURL("{name}")},
		ClientURLs: []string{c.names.clientURL("{name}")},
		Cluster: agent.Cluster{
			Token:           string(e.UID),
			Replicas:        c.belong(),
			ClientEndpoints: []string{c.names.serviceURL()},
		},
		Etcd: c.options(),
	}
	for _, p := range c.names.places(c.recorded().Size()) {
		config.Cluster.ClientEndpoints = append(config.Cluster.ClientEndpoints, c.names.clientURL(p.Name))
	}
	if c.names.settings().ClientTLS != nil {
		config.TLS = &agent.TLS{CertFile: agentTLS + "/tls.crt", KeyFile: agentTLS + "/tls.key", CAFile: agentTLS + "/ca.crt"}
	}
	if err := c.membership(config); err != nil {
		return nil, err
	}
	return config, nil
}

// belong is how many ordinals may join. A cluster that sleeps keeps its size.
func (c *cycle) belong() int {
	if n := c.replicas(); n > 0 {
		return n
	}
	return c.recorded().Size()
}

// membership adds what is recorded: the cluster, its founders or its source, and the
// ledger.
func (c *cycle) membership(config *agent.Config) error {
	e := c.etcd
	if e.Status.ClusterID != "" {
		id, err := parseID(e.Status.ClusterID)
		if err != nil {
			return err
		}
		config.Cluster.ID = rejoin.ID(id)
	}
	if source := c.joining(); source != nil {
		for _, u := range source.ClientEndpoints {
			config.Cluster.Source = append(config.Cluster.Source, string(u))
		}
	} else {
		for _, f := range c.founders() {
			config.Cluster.Founders = append(config.Cluster.Founders, agent.Founder(f))
		}
	}
	for _, r := range e.Status.RemovedMembers {
		member, err := parseID(r.ID)
		if err != nil {
			return err
		}
		cluster, err := parseID(r.ClusterID)
		if err != nil {
			return err
		}
		config.Ledger = append(config.Ledger, rejoin.Removal{
			MemberID: rejoin.ID(member), ClusterID: rejoin.ID(cluster), Confirmed: r.State == v1alpha1.RemovalConfirmed,
		})
	}
	return nil
}

// founders are told to late founders for as long as their cluster lives: before it
// has formed they follow from the recorded creation, later from its ID.
func (c *cycle) founders() []rejoin.Founder {
	e := c.etcd
	if c.names.settings().BootstrapWithExistingCluster != nil || len(e.Status.BootstrapWithExistingClusterMembers) > 0 {
		return nil
	}
	if e.Status.ClusterID == "" {
		return c.names.founders(c.recorded().Size())
	}
	id, err := parseID(e.Status.ClusterID)
	if err != nil {
		return nil // the agents' configuration says it
	}
	return c.names.foundersOf(rejoin.ID(id))
}

// options are etcd's own. They are part of the pods' template by a hash, so that a
// change is rolled out.
func (c *cycle) options() map[string]any {
	s := c.names.settings()
	options := map[string]any{
		"listen-client-urls": fmt.Sprintf("%s://0.0.0.0:%d", c.names.clientScheme(), c.names.clientPort()),
		"listen-peer-urls":   fmt.Sprintf("%s://0.0.0.0:%d", c.names.peerScheme(), c.names.peerPort()),
		// A removal or an addition is refused by etcd too where it costs the quorum.
		"strict-reconfig-check": true,
	}
	if s.QuotaBackendBytes != nil {
		options["quota-backend-bytes"] = *s.QuotaBackendBytes
	}
	if s.ClientTLS != nil {
		options["client-transport-security"] = transport(clientTLS)
	}
	if s.PeerTLS != nil {
		options["peer-transport-security"] = transport(peerTLS)
	}
	return options
}

func transport(dir string) map[string]any {
	return map[string]any{
		"cert-file": dir + "/tls.crt", "key-file": dir + "/tls.key", "trusted-ca-file": dir + "/ca.crt", "client-cert-auth": true,
	}
}
