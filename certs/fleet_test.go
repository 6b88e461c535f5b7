package certs

import (
	"context"
	"crypto/x509"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
)

// yearsPolicy has the proportions of the default one, with fewer looks a year.
func yearsPolicy() Policy {
	return Policy{
		CALifetime: 120 * 24 * time.Hour, LeafLifetime: 6 * 24 * time.Hour, Grace: 9 * time.Hour,
		Skew: 2 * time.Hour, Poll: 8 * time.Hour, CallTimeout: 30 * time.Second,
	}
}

// lag is how old an API server's view of the configuration may be; within the
// grace.
const lag = 8 * time.Hour

// fastClock is a clock that is off.
type fastClock struct {
	clock.RealClock
	by time.Duration
}

func (c fastClock) Now() time.Time { return c.RealClock.Now().Add(c.by) }

// fleet is several replicas in one world. A replica counts while it is ready: from
// the first moment at which its leaf passes its own readiness check until the leaf
// expires, which it may if the replica cannot reach the API server for days.
type fleet struct {
	*world
	t        *testing.T
	mu       sync.Mutex
	replicas []*replica
	checks   int
	proved   map[pair]time.Time // until when, so that no signature is checked twice
}

type pair struct{ leaf, bundle any }

type replica struct {
	keeper *Keeper
	link   *link
	ready  bool
	until  time.Time // when the leaf of the last check expires
	stop   context.CancelFunc
	ended  chan struct{}
}

// check holds the promise: whatever API server calls whichever replica, the
// handshake succeeds.
func (f *fleet) check() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.world.mu.Lock()
	defer f.world.mu.Unlock()
	for i, r := range f.replicas {
		if r == nil {
			continue
		}
		r.ready = r.fit()
		if err := f.accepted(r.keeper); err != nil && r.ready {
			f.t.Errorf("%s: replica %d: %v", time.Now().Format(time.RFC3339), i, err)
		}
		f.checks++
	}
}

// fit reports whether the replica is ready: once it was, until it has let a leaf
// expire.
func (r *replica) fit() bool {
	leaf, roots, now := r.keeper.held(), r.keeper.roots.Load(), time.Now()
	lapsed := !now.Before(r.until)
	if leaf == nil || !now.Before(leaf.NotAfter) {
		return false
	}
	r.until = leaf.NotAfter
	if r.ready && !lapsed {
		return true
	}
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: "gate.example.com"})
	return err == nil
}

func (f *fleet) accepted(k *Keeper) error {
	leaf := k.held()
	if leaf == nil {
		return ErrNoLeaf
	}
	for _, b := range f.bundles {
		if !b.replaced.IsZero() && time.Since(b.replaced) > lag {
			continue
		}
		if time.Now().Before(f.proved[pair{leaf, b.roots}]) {
			continue
		}
		chains, err := leaf.Verify(x509.VerifyOptions{Roots: b.roots, CurrentTime: time.Now(), DNSName: "gate.example.com"})
		if err != nil {
			return fmt.Errorf("leaf of %s, bundle replaced at %s: %w", leaf.Issuer.CommonName, b.replaced.Format(time.RFC3339), err)
		}
		f.proved[pair{leaf, b.roots}] = earlier(leaf.NotAfter, chains[0][1].NotAfter)
	}
	return nil
}

func (f *fleet) start(i int) {
	way := &link{world: f.world}
	k, err := New(Options{
		Secrets: secrets{way}, Configurations: configurations{way},
		SecretName: "ca", ConfigurationName: "gate", Names: Names{DNS: []string{"gate.example.com"}},
		Policy: yearsPolicy(), Found: quickCA, Log: logr.Discard(),
		Clock:    fastClock{by: time.Duration(i-1) * 20 * time.Minute},
		OnExpiry: func(string, time.Time) { f.check() },
	})
	if err != nil {
		f.t.Fatalf("make replica %d: %v", i, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &replica{keeper: k, link: way, stop: cancel, ended: make(chan struct{})}
	f.mu.Lock()
	f.replicas[i] = r
	f.mu.Unlock()
	go func() {
		defer close(r.ended)
		if err := k.Run(ctx); err != nil {
			f.t.Errorf("run replica %d: %v", i, err)
		}
	}()
}

func (f *fleet) restart(i int) {
	f.replicas[i].stop()
	<-f.replicas[i].ended
	f.start(i)
}

// disturb does what happens in the life of a cluster.
func (f *fleet) disturb() {
	f.world.mu.Lock()
	what, who := f.random.IntN(6), f.random.IntN(len(f.replicas))
	f.away = what == 0 && !f.away
	switch {
	case what == 1 && f.secret != nil:
		f.secret.Annotations[AnnotationRotate] = "now"
		f.secret.ResourceVersion = f.next()
	case what == 2 && f.random.IntN(8) == 0:
		f.secret = nil
	case what == 4:
		f.replicas[who].link.cut = time.Now().Add(time.Duration(f.random.IntN(12*24)) * time.Hour)
	}
	f.world.mu.Unlock()
	if what == 3 {
		f.restart(who)
	}
}

// calm lets everything heal.
func (f *fleet) calm(d time.Duration) {
	f.world.mu.Lock()
	f.away = false
	for _, r := range f.replicas {
		r.link.cut = time.Time{}
	}
	f.world.mu.Unlock()
	<-time.After(d)
}
