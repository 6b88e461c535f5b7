package guarded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"sigs.k8s.io/yaml"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
	"github.com/quorate/quorate/test/cluster"
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

// foretold wants the IDs that the founders' list has told before.
func (s *set) foretold(members []*etcdserverpb.Member) {
	s.t.Helper()
	var founders []rejoin.Founder
	for _, f := range s.config.Cluster.Founders {
		founders = append(founders, rejoin.Founder(f))
	}
	f := rejoin.FoundingOf(s.Token, founders)
	if f.ClusterID != s.config.Cluster.ID {
		s.t.Errorf("the cluster is %s, and %s was foretold", s.config.Cluster.ID, f.ClusterID)
	}
	for _, m := range members {
		if f.Members[rejoin.ID(m.ID)] != m.Name {
			s.t.Errorf("member %x is %s, and %v were foretold", m.ID, m.Name, f.Members)
		}
	}
}

var errNotReady = errors.New("not ready")

// ready waits for the pods' readiness probes.
func (s *set) ready(pods ...*pod) {
	s.t.Helper()
	for _, p := range pods {
		err := cluster.Until(s.t.Context(), p.Name+" to be ready", func(ctx context.Context) error {
			code, body, err := p.probed(ctx)
			if err == nil && code != http.StatusOK {
				err = fmt.Errorf("%w: HTTP %d: %s", errNotReady, code, body)
			}
			return err
		})
		if err != nil {
			log, _ := os.ReadFile(p.file("guard.log"))
			s.t.Fatalf("%v\n%s", err, log)
		}
	}
}

// probed asks the readiness probe once.
func (p *pod) probed(ctx context.Context) (code int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.probe()+"/readyz", nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// voters wants exactly the pods in the list, each a started voter.
func (s *set) voters(pods ...*pod) {
	s.t.Helper()
	var survivors []*etcdcluster.Member
	for _, p := range pods {
		survivors = append(survivors, p.Member)
	}
	list, err := s.List(s.t.Context(), survivors...)
	must(s.t, err)
	names := map[string]bool{}
	for _, m := range list.Members {
		if m.IsLearner || len(m.ClientURLs) == 0 {
			s.t.Errorf("%q is no started voter: %+v", m.Name, m)
		}
		names[m.Name] = true
	}
	for _, p := range pods {
		if !names[p.Name] || len(names) != len(pods) {
			s.t.Fatalf("the list has %v, and should have %d members with %s", names, len(pods), p.Name)
		}
	}
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

// refuses waits until the pod's termination message begins like that.
func (s *set) refuses(p *pod, begins string) {
	s.t.Helper()
	must(s.t, cluster.Until(s.t.Context(), "the reason of "+p.Name, func(context.Context) error {
		message, err := os.ReadFile(p.file("message"))
		if err == nil && !strings.HasPrefix(string(message), begins) {
			err = fmt.Errorf("it is %q and should begin with %q", message, begins)
		}
		return err
	}))
}

var errOtherConfiguration = errors.New("it is for another start")

// restarts wants a configuration of etcd that names the pod alone and an existing
// cluster.
func restarts(content string, p *pod) error {
	for _, want := range []string{"initial-cluster-state: existing\n", "initial-cluster: " + p.Name + "=" + p.PeerURL + "\n"} {
		if !strings.Contains(content, want) {
			return fmt.Errorf("%w, without %q: %s", errOtherConfiguration, want, content)
		}
	}
	return nil
}
