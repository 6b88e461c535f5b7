package talos

import (
	"crypto/tls"
	"sync"
	"sync/atomic"
	"time"

	"github.com/siderolabs/crypto/x509"
)

// clock is what a node takes for the time: this machine's, and something more or less.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// SetClock lets the node's clock be ahead of this machine's, or behind it if ahead is below
// zero, until the answered function is called. The machine API judges its clients'
// certificates by it from now on, where those that are connected break, and the next boot
// issues its own by it. What runs in processes of their own, etcd, API server and pods,
// has this machine's clock.
func (n *Node) SetClock(ahead time.Duration) (restore func()) {
	set := func(ahead time.Duration) {
		n.clock.ahead.Store(int64(ahead))
		n.Fault(Unreachable())() // breaks what is connected
	}
	set(ahead)
	return sync.OnceFunc(func() { set(0) })
}

// byClock lets a server go by the node's clock.
func (n *Node) byClock(config *tls.Config) { config.Time = n.clock.now }

// validity is that of a certificate which the node issues now.
func (n *Node) validity() []x509.Option {
	if n.clock.ahead.Load() == 0 {
		return nil
	}
	now := n.clock.now()
	return []x509.Option{x509.NotBefore(now), x509.NotAfter(now.Add(certificateLife))}
}
