package talos

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

// TestClock: a node whose clock is far ahead takes a client's certificate for expired, and
// one far behind for not yet valid; who was connected is cut off. A little does no harm.
// Its etcd goes on.
func TestClock(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-2")
	for name, ahead := range map[string]time.Duration{"ahead": 20 * 365 * 24 * time.Hour, "behind": -20 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			c := admin(t, n)
			must(t, version(t, c, 10*time.Second))
			restore := n.SetClock(ahead)
			code(t, version(t, c, 2*time.Second), codes.Unavailable)
			code(t, version(t, admin(t, n), 2*time.Second), codes.Unavailable)
			must(t, n.Voting(t.Context()))
			restore()
			answersAgain(t, c)
		})
	}
	restore := n.SetClock(time.Second)
	defer restore()
	answersAgain(t, admin(t, n))
}

// TestClockOfABoot: what a node with a wrong clock issues for itself at its boot is not
// valid for others, and stays so until the next boot with the right one.
func TestClockOfABoot(t *testing.T) {
	n := shared.Node("worker-1")
	for name, ahead := range map[string]time.Duration{"ahead": 48 * time.Hour, "behind": -48 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			restore := n.SetClock(ahead)
			must(t, n.Reboot(within(t, time.Minute)))
			restore()
			code(t, version(t, admin(t, n), 2*time.Second), codes.Unavailable)
			must(t, n.Reboot(within(t, time.Minute)))
			answersAgain(t, admin(t, n))
		})
	}
}
