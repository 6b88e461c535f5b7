package talos

import (
	"net"
	"sync"
)

// gate stands between the network and the machine API. Closed, it lets nothing
// through either way while connections stay open: a machine that accepts and never
// answers. Barred, it breaks connections and refuses new ones.
type gate struct {
	mu     sync.Mutex
	closed int           // how many faults keep it closed
	barred int           // how many faults keep it barred
	open   chan struct{} // closed while the gate is open
	conns  map[*gatedConn]struct{}
}

func newGate() *gate {
	open := make(chan struct{})
	close(open)
	return &gate{open: open, conns: map[*gatedConn]struct{}{}}
}

// close keeps everything back until the answered function is called.
func (g *gate) close() func() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed++; g.closed == 1 {
		g.open = make(chan struct{})
	}
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.closed--; g.closed == 0 {
			close(g.open)
		}
	})
}

// bar breaks all connections, and new ones at once, until the answered function is
// called.
func (g *gate) bar() func() {
	g.mu.Lock()
	g.barred++
	g.mu.Unlock()
	g.hangUp()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.barred--
	})
}

// hangUp breaks all connections, those too that wait at a closed gate before the server
// knows of them.
func (g *gate) hangUp() {
	g.mu.Lock()
	var broken []*gatedConn
	for conn := range g.conns {
		broken = append(broken, conn)
	}
	g.mu.Unlock()
	for _, conn := range broken {
		_ = conn.Close() // it may be gone already
	}
}

func (g *gate) passage() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// listen lets the listener's connections through the gate.
func (g *gate) listen(l net.Listener) net.Listener { return &gatedListener{Listener: l, gate: g} }

type gatedListener struct {
	net.Listener
	gate *gate
}

func (l *gatedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if gated := l.gate.admit(conn); gated != nil {
			return gated, nil
		}
		_ = conn.Close() // barred
	}
}

func (g *gate) admit(conn net.Conn) net.Conn {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.barred > 0 {
		return nil
	}
	gated := &gatedConn{Conn: conn, gate: g, ended: make(chan struct{})}
	g.conns[gated] = struct{}{}
	return gated
}

// gatedConn waits at the gate before each read's result and each write.
type gatedConn struct {
	net.Conn
	gate  *gate
	once  sync.Once
	ended chan struct{}
}

func (c *gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.wait()
	return n, err
}

func (c *gatedConn) Write(b []byte) (int, error) {
	c.wait()
	return c.Conn.Write(b)
}

func (c *gatedConn) wait() {
	select {
	case <-c.gate.passage():
	case <-c.ended:
	}
}

func (c *gatedConn) Close() error {
	c.once.Do(func() {
		close(c.ended)
		c.gate.mu.Lock()
		defer c.gate.mu.Unlock()
		delete(c.gate.conns, c)
	})
	return c.Conn.Close()
}
