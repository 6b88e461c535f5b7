package etcdcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quorate/quorate/test/process"
)

// Options are what a cluster is made with.
type Options struct {
	// Dir holds the members' data and logs.
	Dir     string
	Release Release
	// Token is the initial cluster token: IDs follow from it and the peer URLs.
	Token string
	// Network is a free one if it is empty.
	Network Network
	// Flags are given to every member besides its own.
	Flags []string
}

// Cluster is a set of members, whether they run or not.
type Cluster struct {
	Options
	members []*Member
}

// New makes a cluster without members.
func New(o Options) (*Cluster, error) {
	if o.Network == "" {
		free, err := FreeNetwork()
		if err != nil {
			return nil, err
		}
		o.Network = free
	}
	for _, dir := range []string{"data", "logs"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, dir), 0o755); err != nil {
			return nil, fmt.Errorf("make a folder of the cluster: %w", err)
		}
	}
	return &Cluster{Options: o}, nil
}

// Member answers the one of that name, and makes it when it is asked for first.
// Nothing runs and nobody lists it because of that.
func (c *Cluster) Member(name string) *Member {
	for _, m := range c.members {
		if m.Name == name {
			return m
		}
	}
	i := len(c.members)
	m := &Member{
		Name:      name,
		PeerURL:   c.Network.url(i, peerPort),
		ClientURL: c.Network.url(i, clientPort),
		DataDir:   filepath.Join(c.Dir, "data", name),
		cluster:   c,
	}
	c.members = append(c.members, m)
	return m
}

// Form starts founders and waits until each serves. The founders' list has absent
// ones too: members that do not start yet.
func (c *Cluster) Form(ctx context.Context, started, absent []*Member) error {
	founders := slices.Concat(started, absent)
	for _, m := range started {
		if err := m.StartAsFounder(founders...); err != nil {
			return err
		}
	}
	return c.Healthy(ctx, started...)
}

// Running answers the members with a process.
func (c *Cluster) Running() []*Member {
	return slices.DeleteFunc(slices.Clone(c.members), func(m *Member) bool { return m.Alive() != nil })
}

// Close kills what still runs.
func (c *Cluster) Close() error {
	var errs []error
	for _, m := range c.Running() {
		if err := m.Kill(); !errors.Is(err, process.ErrEnded) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func initialCluster(founders []*Member) string {
	var out []string
	for _, m := range founders {
		out = append(out, m.Name+"="+m.PeerURL)
	}
	return strings.Join(out, ",")
}
