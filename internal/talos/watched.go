package talos

import (
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// watched is a connection whose first word from the server is waited for. A server
// of TLS 1.3 judges the client's certificate when the client's handshake is over;
// what is written before that can lose its answer.
type watched struct {
	net.Conn
	witness *witness
	// first is what greet has read and Read has not given yet.
	first   []byte
	trusted bool
}

// greeting is how long the first word may take. A gRPC server of Go speaks first;
// one that does not is only later.
const greeting = 2 * time.Second

// greet fails with what the server has against this client.
func (c *watched) greet(ctx context.Context) error {
	end := time.Now().Add(greeting)
	if d, ok := ctx.Deadline(); ok && d.Before(end) {
		end = d
	}
	if err := c.SetReadDeadline(end); err != nil {
		return err
	}
	word := make([]byte, 1)
	n, err := c.Read(word)
	c.first = word[:n]
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return c.SetReadDeadline(time.Time{})
}

// Read implements net.Conn. It has one caller at a time, as gRPC has one reader.
func (c *watched) Read(p []byte) (int, error) {
	if len(c.first) > 0 {
		n := copy(p, c.first)
		c.first = c.first[n:]
		return n, nil
	}
	n, err := c.Conn.Read(p)
	if n > 0 && !c.trusted {
		c.trusted = true
		c.witness.note(nil)
	}
	if alertKind(err) != nil {
		c.witness.note(err)
	}
	return n, err
}
