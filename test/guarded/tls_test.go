package guarded

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/internal/agent"
	"github.com/quorate/quorate/test/cluster"
)

// TestTLS: clients and peers by certificates alone. A second member joins; then the
// agents' certificate expires, and they are ready again with the one that takes its
// place in the same files, without a restart.
func TestTLS(t *testing.T) {
	s := newSet(t, 2, 1)
	dir, ca := t.TempDir(), newAuthority(t)
	file := func(name string) string { return filepath.Join(dir, name) }
	must(t, writePEM(file("ca.crt"), "CERTIFICATE", ca.cert.Raw))
	// Peers see each other come from 127.0.0.1, and etcd checks where one comes from.
	ca.write(t, file("etcd.crt"), file("etcd.key"), time.Now().Add(time.Hour), s.host(0), s.host(1), "127.0.0.1")
	ca.write(t, file("agent.crt"), file("agent.key"), time.Now().Add(time.Hour))
	s.encrypt(file)

	s.scale(1)
	s.ready(s.pods[0])
	s.config.Cluster.ID = rejoin.ReadDisk(s.pods[0].DataDir).ClusterID
	s.scale(2)
	s.ready(s.pods...)

	ca.write(t, file("agent.crt"), file("agent.key"), time.Now().Add(-time.Second))
	for _, p := range s.pods {
		s.unready(p, "certificate")
	}
	ca.write(t, file("agent.crt"), file("agent.key"), time.Now().Add(time.Hour))
	s.ready(s.pods...)
	for _, p := range s.pods {
		if codes, starts := p.answers(); starts != 1 {
			t.Errorf("%s was started %d times: %v", p.Name, starts, codes)
		}
	}
}

func (s *set) host(i int) string {
	host, _, _ := strings.Cut(s.Network.Address(i, ""), ":")
	return host
}

// encrypt makes every URL an https one, and says where the certificates are.
func (s *set) encrypt(file func(string) string) {
	https := func(url *string) { *url = strings.Replace(*url, "http://", "https://", 1) }
	for i, p := range s.pods {
		https(&p.PeerURL)
		https(&p.ClientURL)
		https(&s.config.Cluster.ClientEndpoints[i])
	}
	for i := range s.config.Cluster.Founders {
		https(&s.config.Cluster.Founders[i].PeerURLs[0])
	}
	s.config.TLS = &agent.TLS{CertFile: file("agent.crt"), KeyFile: file("agent.key"), CAFile: file("ca.crt")}
	security := map[string]any{"cert-file": file("etcd.crt"), "key-file": file("etcd.key"), "trusted-ca-file": file("ca.crt"), "client-cert-auth": true}
	s.config.Etcd["client-transport-security"], s.config.Etcd["peer-transport-security"] = security, security
}

// unready waits until the pod's probe fails for a reason that has this text.
func (s *set) unready(p *pod, says string) {
	s.t.Helper()
	must(s.t, cluster.Until(s.t.Context(), p.Name+" to be unready", func(ctx context.Context) error {
		code, body, err := p.probed(ctx)
		if err == nil && (code != http.StatusServiceUnavailable || !strings.Contains(body, says)) {
			err = fmt.Errorf("HTTP %d: %s", code, body)
		}
		return err
	}))
}
