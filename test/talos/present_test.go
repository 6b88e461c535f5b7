package talos

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

// TestPresent: a client that trusts the cluster turns away from an expired certificate
// and from another authority's, also where it was connected, and comes back.
func TestPresent(t *testing.T) {
	n := shared.Node("worker-1")
	other, err := New(t.Context(), Options{})
	must(t, err)
	t.Cleanup(func() { must(t, other.Stop()) })
	for name, present := range map[string]func() (func(), error){
		"expired":              n.PresentExpired,
		"of another cluster's": func() (func(), error) { return n.PresentAnother(other) },
	} {
		t.Run(name, func(t *testing.T) {
			c := admin(t, n)
			version := func() error {
				_, err := c.Version(within(t, 2*time.Second))
				return err
			}
			must(t, version())
			restore, err := present()
			must(t, err)
			code(t, version(), codes.Unavailable)
			restore()
			until(t, "the own certificate to serve", func() bool { return version() == nil })
		})
	}
}

// TestOffWhileSilent: a connection that waits at a silent machine, before anything was
// said, does not keep it from going off.
func TestOffWhileSilent(t *testing.T) {
	for name, off := range map[string]func(*Node){
		"the plug is pulled": (*Node).PowerOff,
		"it is shut down": func(n *Node) {
			b, err := n.current()
			must(t, err)
			must(t, n.switchOff(b, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := shared.Node("worker-1")
			lift := n.Fault(Silent())
			defer lift()
			_, err := admin(t, n).Version(within(t, quick))
			code(t, err, codes.DeadlineExceeded)
			done := make(chan struct{})
			go func() { off(n); close(done) }()
			select {
			case <-done:
			case <-within(t, 10*time.Second).Done():
				t.Fatal("it does not go off")
			}
			must(t, n.PowerOn())
		})
	}
}
