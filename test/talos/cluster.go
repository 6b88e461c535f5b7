package talos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/quorate/quorate/test/etcdcluster"
)

// Cluster is a set of Talos nodes. Its methods may be called from several goroutines.
type Cluster struct {
	// Dir holds the nodes' disks and logs.
	Dir string

	options   Options
	authority *authority
	network   etcdcluster.Network
	etcd      etcdcluster.Release
	apiserver string // the program
	mu        sync.Mutex
	nodes     []*Node
}

// etcdMinor is the etcd that the nodes run.
const etcdMinor = "3.7"

// Start installs the nodes, boots them, bootstraps etcd on the first control plane
// and waits until every control plane is a voter and, with Kubernetes, its API server
// serves. After an error nothing is left
// running.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	c, err := New(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := c.form(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start the Talos nodes: %w%s", err, c.Logs()), c.Stop())
	}
	return c, nil
}

// New installs the nodes and leaves them switched off.
func New(ctx context.Context, options Options) (*Cluster, error) {
	c := &Cluster{options: options.withDefaults(), Dir: options.Dir}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("make the Talos nodes: %w", err), c.Stop())
	}
	return c, nil
}

func (c *Cluster) prepare(ctx context.Context) (err error) {
	if err := checkVolumes(c.options.Volumes); err != nil {
		return err
	}
	releases, err := etcdcluster.Releases(ctx, etcdMinor, c.options.Progress)
	if err != nil {
		return err
	}
	c.etcd = releases[0]
	if err := c.findKubernetes(ctx); err != nil {
		return err
	}
	if c.authority, err = newAuthority(c.options.Bundle); err != nil {
		return err
	}
	if c.network, err = etcdcluster.FreeNetwork(); err != nil {
		return err
	}
	if c.Dir == "" {
		if c.Dir, err = os.MkdirTemp("", "quorate-talos-"); err != nil {
			return fmt.Errorf("make a folder: %w", err)
		}
	}
	return c.addNodes()
}

func (c *Cluster) addNodes() error {
	for i := range c.options.ControlPlanes + c.options.Workers {
		name, worker := fmt.Sprintf("cp-%d", i+1), i >= c.options.ControlPlanes
		if worker {
			name = fmt.Sprintf("worker-%d", i-c.options.ControlPlanes+1)
		}
		if _, err := c.Add(name, worker); err != nil {
			return err
		}
	}
	return nil
}

// errNameTaken is the error of a second node of one name.
var errNameTaken = errors.New("there is a node of this name")

// Add installs one more node, at an address of its own, and leaves it switched off.
func (c *Cluster) Add(name string, worker bool) (*Node, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if slices.ContainsFunc(c.nodes, func(n *Node) bool { return n.Name == name }) {
		return nil, fmt.Errorf("add %s: %w", name, errNameTaken)
	}
	n, err := c.newNode(len(c.nodes), name, worker)
	if err != nil {
		return nil, fmt.Errorf("add %s: %w", name, err)
	}
	c.nodes = append(c.nodes, n)
	return n, nil
}

// form makes one etcd cluster of all control planes.
func (c *Cluster) form(ctx context.Context) error {
	for _, n := range c.Nodes() {
		if err := n.PowerOn(); err != nil {
			return err
		}
	}
	members := c.ControlPlanes()
	if len(members) == 0 {
		return nil
	}
	if err := members[0].Bootstrap(ctx); err != nil {
		return err
	}
	for _, n := range members {
		if err := n.Voting(ctx); err != nil {
			return err
		}
	}
	return c.serving(ctx)
}

// Stop pulls the plug of each node and removes a temporary Dir. Its error includes what
// went wrong on the nodes' part in between.
func (c *Cluster) Stop() error {
	var errs []error
	for _, n := range c.Nodes() {
		n.destroy()
		errs = append(errs, n.complaints())
	}
	if c.options.Dir == "" && c.Dir != "" {
		errs = append(errs, os.RemoveAll(c.Dir))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("stop the Talos nodes: %w", err)
	}
	return nil
}

// Bundle is the Talos secrets bundle as YAML: what a client's certificates come from.
func (c *Cluster) Bundle() []byte { return slices.Clone(c.authority.yaml) }

// Nodes are all nodes, those that were added last.
func (c *Cluster) Nodes() []*Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.nodes)
}

// ControlPlanes are the nodes that run etcd.
func (c *Cluster) ControlPlanes() []*Node {
	return slices.DeleteFunc(c.Nodes(), func(n *Node) bool { return n.worker })
}

// Node answers the one of that name, such as cp-1, and nil if there is none.
func (c *Cluster) Node(name string) *Node {
	nodes := c.Nodes()
	i := slices.IndexFunc(nodes, func(n *Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return nodes[i]
}

// Logs is the end of what each node's etcd and API server have logged, for a failing test to print.
func (c *Cluster) Logs() string {
	var out string
	for _, n := range c.ControlPlanes() {
		out += "\n--- etcd of " + n.Name + "\n" + n.EtcdLogTail()
		if n.kube != nil {
			out += "\n--- kube-apiserver of " + n.Name + "\n" + n.APIServerLogTail()
		}
	}
	return out
}

func (c *Cluster) folder(names ...string) (string, error) {
	dir := filepath.Join(append([]string{c.Dir}, names...)...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make a folder of a node: %w", err)
	}
	return dir, nil
}
