package agent

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/quorate/quorate/guard/rejoin"
)

// decided are the options of etcd that the agent writes itself.
var decided = []string{
	"name", "data-dir", "wal-dir", "initial-advertise-peer-urls", "advertise-client-urls",
	"initial-cluster", "initial-cluster-state", "initial-cluster-token", "force-new-cluster", "discovery", "discovery-srv",
}

// validate names every field that is missing or malformed.
func (c *Config) validate() error {
	var errs []error
	bad := func(field, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	required := func(field, value string) {
		if value == "" {
			bad(field, "is missing")
		}
	}
	urls := func(field string, list []string, atLeastOne bool) {
		if len(list) == 0 && atLeastOne {
			bad(field, "is missing")
		}
		for i, u := range list {
			if err := checkURL(u); err != nil {
				bad(fmt.Sprintf("%s[%d]", field, i), "%v", err)
			}
		}
	}
	required("dataDir", c.DataDir)
	required("cluster.token", c.Cluster.Token)
	urls("peerURLs", c.PeerURLs, true)
	urls("clientURLs", c.ClientURLs, true)
	urls("cluster.clientEndpoints", c.Cluster.ClientEndpoints, false)
	urls("cluster.source", c.Cluster.Source, false)
	if c.Cluster.Replicas < 0 {
		bad("cluster.replicas", "%d is below 0", c.Cluster.Replicas)
	}
	for i, f := range c.Cluster.Founders {
		required(fmt.Sprintf("cluster.founders[%d].name", i), f.Name)
		urls(fmt.Sprintf("cluster.founders[%d].peerURLs", i), f.PeerURLs, true)
	}
	for i, r := range c.Ledger {
		if r.MemberID == 0 || r.ClusterID == 0 {
			bad(fmt.Sprintf("ledger[%d]", i), "memberID and clusterID are both needed")
		}
	}
	if c.TLS != nil {
		required("tls.certFile", c.TLS.CertFile)
		required("tls.keyFile", c.TLS.KeyFile)
		required("tls.caFile", c.TLS.CAFile)
	}
	if size, ok := c.Etcd["max-request-bytes"].(float64); ok && size > rejoin.MaxRequest {
		bad("etcd.max-request-bytes", "%.0f is more than %d, and the log of such requests could not be read", size, rejoin.MaxRequest)
	}
	for _, option := range decided {
		if _, ok := c.Etcd[option]; ok {
			bad("etcd."+option, "is decided by the agent: leave it out")
		}
	}
	return errors.Join(errs...)
}

func checkURL(text string) error {
	u, err := url.Parse(strings.ReplaceAll(text, placeholder, "name"))
	if err != nil {
		return err
	}
	// etcd compares URLs as they are printed.
	if !slices.Contains([]string{"http", "https"}, u.Scheme) || u.Port() == "" || u.Scheme+"://"+u.Host != strings.ReplaceAll(text, placeholder, "name") {
		return fmt.Errorf("%q is not http(s)://host:port", text)
	}
	return nil
}
