package talos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"github.com/quorate/quorate/test/cluster"
)

// The ports of a node.
const (
	apiPort        = "50000"
	etcdClientPort = "2379"
	etcdPeerPort   = "2380"
)

// Node is a machine with Talos on it, on or off. Its methods may be called from
// several goroutines.
type Node struct {
	// Name is the short hostname, which is also the name of its etcd member.
	Name string
	// IP is in 127.0.0.0/8; the node listens there alone.
	IP string

	cluster *Cluster
	number  int // in the order of the nodes, from 0
	worker  bool
	dir     string
	disk    disk
	pki     *pki
	kube    *kubePKI        // nil on a worker, and without Kubernetes
	admin   *cluster.Access // as kube
	faults  *faults

	record   record
	identity identity // what it presents in the place of its own certificate
	clock    clock

	work    sync.WaitGroup // what goes on behind an answer: resets, reboots
	life    context.Context
	die     context.CancelFunc
	mu      sync.Mutex
	boot    *boot // nil while the machine is off or in between two boots
	timing  Timing
	plugged bool
	wrong   []error // what went wrong in the simulation itself
}

func (c *Cluster) newNode(i int, name string, worker bool) (*Node, error) {
	ip, _, err := net.SplitHostPort(c.network.Address(i, apiPort))
	if err != nil {
		return nil, fmt.Errorf("find the address of %s: %w", name, err)
	}
	dir, err := c.folder(name)
	if err != nil {
		return nil, err
	}
	n := &Node{
		Name: name, IP: ip, cluster: c, number: i, worker: worker, dir: dir, disk: disk{dir: filepath.Join(dir, "disk"), dedicated: c.options.Volumes},
		faults: newFaults(), timing: c.options.Timing,
	}
	n.life, n.die = context.WithCancel(context.Background())
	if n.pki, err = c.authority.etcdPKI(dir, name, ip); err != nil {
		return nil, err
	}
	if err := n.installKubernetes(); err != nil {
		return nil, err
	}
	return n, n.disk.install()
}

// Endpoint is the machine API's address, host:port.
func (n *Node) Endpoint() string { return net.JoinHostPort(n.IP, apiPort) }

// PeerURL is what etcd knows the node's member by.
func (n *Node) PeerURL() string { return "https://" + n.etcdAddress(etcdPeerPort) }

func (n *Node) etcdAddress(port string) string { return net.JoinHostPort(n.IP, port) }

// Worker tells whether the node runs no etcd.
func (n *Node) Worker() bool { return n.worker }

// NodeName is the Kubernetes node's name: the full name if the cluster has a domain.
func (n *Node) NodeName() string {
	if domain := n.cluster.options.Domain; domain != "" {
		return n.Name + "." + domain
	}
	return n.Name
}

// SetTiming changes how long this node takes for things, from the next of them on.
func (n *Node) SetTiming(change func(*Timing)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change(&n.timing)
}

// Timing is how long this node takes for things.
func (n *Node) Timing() Timing {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.timing
}

// complain keeps an error for Cluster.Stop.
func (n *Node) complain(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil {
		n.wrong = append(n.wrong, fmt.Errorf("on %s: %w", n.Name, err))
	}
}

func (n *Node) complaints() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return errors.Join(n.wrong...)
}

// errOff is the error of a machine that does not run just now.
var errOff = errors.New("the machine is off")

// current is the boot that runs, or errOff.
func (n *Node) current() (*boot, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.boot == nil {
		return nil, fmt.Errorf("%s: %w", n.Name, errOff)
	}
	return n.boot, nil
}

// BootID is that of the boot that runs, and empty while the machine is off. Clients
// read it from /proc/sys/kernel/random/boot_id.
func (n *Node) BootID() string {
	b, err := n.current()
	if err != nil {
		return ""
	}
	return b.id
}

// HasEtcdData tells whether the etcd data directory has any entry, whatever it is.
func (n *Node) HasEtcdData() (bool, error) {
	empty, err := n.disk.etcdEmpty()
	return !empty, err
}

// DiskPath is a file of a partition, such as META and "user".
func (n *Node) DiskPath(partition string, names ...string) string {
	return filepath.Join(append([]string{n.disk.dir, partition}, names...)...)
}

// Service is the state of a service, such as Preparing, and empty if there is none.
func (n *Node) Service(id string) string {
	b, err := n.current()
	if err != nil {
		return ""
	}
	if s := b.services.find(id); s != nil {
		return s.is()
	}
	return ""
}

// Voting waits until the node's etcd is a healthy voter.
func (n *Node) Voting(ctx context.Context) error {
	return cluster.Until(ctx, n.Name+" to be a voter of etcd", func(ctx context.Context) error {
		_, err := n.MemberID(ctx)
		return err
	})
}

// tailBytes is how much of a log is quoted.
const tailBytes = 2 << 10

// EtcdLog is all that etcd has logged on this node, over all its starts.
func (n *Node) EtcdLog() string {
	content, err := os.ReadFile(n.etcdLog())
	if err != nil {
		return err.Error()
	}
	return string(content)
}

// EtcdLogTail is the end of EtcdLog.
func (n *Node) EtcdLogTail() string {
	log := n.EtcdLog()
	return log[max(0, len(log)-tailBytes):]
}

func (n *Node) etcdLog() string { return filepath.Join(n.dir, "etcd.log") }
