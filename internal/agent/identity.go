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
	return Identity{name, ordinal, named(c.PeerURLs, name), named(c.ClientURLs, name)}, nil
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

// self is the identity as a verdict needs it.
func (c *Config) self(id Identity) rejoin.Self {
	founder := func(f Founder) bool { return f.Name == id.Name }
	return rejoin.Self{
		Name: id.Name, PeerURLs: id.PeerURLs, Ordinal: id.Ordinal, Replicas: c.Cluster.Replicas,
		Founder:   slices.ContainsFunc(c.Cluster.Founders, founder),
		ClusterID: c.Cluster.ID, Source: len(c.Cluster.Source) > 0,
	}
}

// endpoints are all that may answer for the cluster.
func (c *Config) endpoints() []string {
	return append(slices.Clone(c.Cluster.ClientEndpoints), c.Cluster.Source...)
}
