package guarded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/quorate/quorate/guard/rejoin"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/etcdcluster"
)

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
