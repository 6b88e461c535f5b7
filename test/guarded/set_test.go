package guarded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
	"github.com/quorate/quorate/test/etcdcluster"
)

// set is a StatefulSet and its controller: pods main-0, main-1, … and what their
// configuration says.
type set struct {
	*etcdcluster.Cluster
	t      *testing.T
	binary string
	pods   []*pod
	config agent.Config

	mu    sync.Mutex
	wrong []error // of the pods' own machinery
}

// newSet has places for size members, of which the first ones found the cluster.
func newSet(t *testing.T, size, founders int) *set {
	t.Helper()
	c, err := etcdcluster.New(etcdcluster.Options{Dir: t.TempDir(), Release: release, Token: "6a1f2a52"})
	must(t, err)
	s := &set{Cluster: c, t: t, binary: binary}
	s.config = agent.Config{
		Cluster: agent.Cluster{Token: c.Token, Replicas: founders},
		Etcd:    map[string]any{"logger": "zap", "log-level": "warn"},
	}
	for i := range size {
		p := &pod{Member: c.Member(fmt.Sprintf("main-%d", i)), set: s, ordinal: i}
		must(t, os.MkdirAll(filepath.Dir(p.file("message")), 0o755))
		must(t, os.WriteFile(p.file("message"), nil, 0o644))
		s.pods = append(s.pods, p)
		s.config.Cluster.ClientEndpoints = append(s.config.Cluster.ClientEndpoints, p.ClientURL)
		if i < founders {
			s.config.Cluster.Founders = append(s.config.Cluster.Founders, agent.Founder{Name: p.Name, PeerURLs: []string{p.PeerURL}})
		}
	}
	s.publish()
	t.Cleanup(s.end)
	return s
}

func (s *set) end() {
	for _, p := range s.pods {
		p.rest()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := errors.Join(append(s.wrong, s.Close())...); err != nil {
		s.t.Error(err)
	}
}

func (s *set) complain(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wrong = append(s.wrong, err)
}

// publish writes the configuration for every pod. Each has addresses of its own,
// so its URLs are spelled out.
func (s *set) publish() {
	s.t.Helper()
	for _, p := range s.pods {
		must(s.t, p.configure(s.config, p.DataDir, "guard.yaml"))
	}
}

func (p *pod) configure(c agent.Config, dataDir, name string) error {
	c.DataDir, c.PeerURLs, c.ClientURLs = dataDir, []string{p.PeerURL}, []string{p.ClientURL}
	options := map[string]any{"listen-peer-urls": p.PeerURL, "listen-client-urls": p.ClientURL}
	for option, value := range c.Etcd {
		options[option] = value
	}
	c.Etcd = options
	content, err := yaml.Marshal(c)
	if err != nil {
		return err
	}
	// Whole or not at all, as a kubelet does it.
	fresh := p.file(name + ".new")
	return errors.Join(os.WriteFile(fresh, content, 0o644), os.Rename(fresh, p.file(name)))
}

// scale lets ordinals below n belong, and runs their pods.
func (s *set) scale(n int) {
	s.t.Helper()
	s.config.Cluster.Replicas = n
	s.publish()
	for _, p := range s.pods[:n] {
		p.run()
	}
}

// form founds the cluster and records its ID, as the controller does.
func (s *set) form() {
	s.t.Helper()
	s.scale(s.config.Cluster.Replicas)
	s.ready(s.pods[:s.config.Cluster.Replicas]...)
	list, err := s.List(s.t.Context())
	must(s.t, err)
	s.config.Cluster.ID = rejoin.ID(list.Header.ClusterId)
	s.foretold(list.Members)
	s.publish()
}

// client talks to the members of these pods.
func (s *set) client(pods ...*pod) *clientv3.Client {
	s.t.Helper()
	var members []*etcdcluster.Member
	for _, p := range pods {
		members = append(members, p.Member)
	}
	c, err := s.Client(s.t.Context(), members...)
	must(s.t, err)
	s.t.Cleanup(func() { _ = c.Close() })
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
