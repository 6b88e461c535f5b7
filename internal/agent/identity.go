package agent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quorate/quorate/guard/rejoin"
)

// Identity is one member of a Config.
type Identity struct {
	Name                 string
	Ordinal              int
	PeerURLs, ClientURLs []string
}

// Identify finds the member by its name, which ends in its ordinal: main-0.
func (c *Config) Identify(name string) (Identity, error) {
	i := strings.LastIndex(name, "-")
	ordinal, err := strconv.Atoi(name[i+1:])
	if i <= 0 || err != nil || ordinal < 0 {
		return Identity{}, fmt.Errorf("%w: the name %q does not end in an ordinal, such as main-0", ErrConfig, name)
	}
	id := Identity{name, ordinal, named(c.PeerURLs, name), named(c.ClientURLs, name)}
	for i, f := range c.Cluster.Founders {
		if f.Name == name && !sameSet(f.PeerURLs, id.PeerURLs) {
			return Identity{}, fmt.Errorf("%w: cluster.founders[%d].peerURLs are %v and peerURLs say %v for %s: etcd wants the same", ErrConfig, i, f.PeerURLs, id.PeerURLs, name)
		}
	}
	return id, nil
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// placeholder stands for the member's name.
const placeholder = "{name}"

func named(urls []string, name string) []string {
	out := slices.Clone(urls)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], placeholder, name)
	}
	return out
}

// self is the identity as a verdict needs it; disk is the member on its disk.
func (c *Config) self(id Identity, disk rejoin.ID) rejoin.Self {
	s := rejoin.Self{
		Name: id.Name, PeerURLs: id.PeerURLs, Ordinal: id.Ordinal, Replicas: c.Cluster.Replicas,
		ClusterID: c.Cluster.ID, Source: len(c.Cluster.Source) > 0,
		Accepted: disk != 0 && slices.Contains(c.Accept, disk),
	}
	var founders []rejoin.Founder
	for _, f := range c.Cluster.Founders {
		founders = append(founders, rejoin.Founder(f))
		s.Founder = s.Founder || f.Name == id.Name
	}
	s.Founding = rejoin.FoundingOf(c.Cluster.Token, founders)
	return s
}

// endpoints are those that may answer for the cluster. Before the cluster to join
// is recorded, only the source knows it: behind the own Service may be anybody.
func (c *Config) endpoints() []string {
	if c.Cluster.ID == 0 && len(c.Cluster.Source) > 0 {
		return c.Cluster.Source
	}
	return append(slices.Clone(c.Cluster.ClientEndpoints), c.Cluster.Source...)
}
