package restored

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	sim "github.com/quorate/quorate/test/talos"
)

const (
	lookEvery   = 400 * time.Millisecond
	lookTimeout = time.Second
)

// lineages looks at the etcd of each control plane all the time: once the recovered one has
// answered, no other one may, for an answer that is linearizable has a quorum behind it.
type lineages struct {
	// floor is a revision that only the recovered etcd has.
	floor int64
	ended context.CancelFunc
	looks sync.WaitGroup

	mu        sync.Mutex
	recovered time.Time // when it was first heard of
	wrong     []string
}

func watchLineages(t *testing.T) *lineages {
	t.Helper()
	seen, err := lookAt(within(t), shared.Talos.Node("cp-1"))
	must(t, err)
	l := &lineages{floor: seen.Header.Revision + 1e8}
	ctx, ended := context.WithCancel(t.Context())
	l.ended = ended
	for _, n := range shared.Talos.ControlPlanes() {
		l.looks.Go(func() { l.follow(ctx, n) })
	}
	return l
}

func (l *lineages) follow(ctx context.Context, n *sim.Node) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		began := time.Now()
		if seen, err := lookAt(ctx, n); err == nil {
			l.saw(n, seen.Header.Revision, began)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// lookAt is a linearizable read of a node's own etcd.
func lookAt(ctx context.Context, n *sim.Node) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	c, err := n.Etcd(ctx)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Get(ctx, "nothing")
}

func (l *lineages) saw(n *sim.Node, revision int64, began time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case revision >= l.floor && l.recovered.IsZero():
		l.recovered = time.Now()
	case revision < l.floor && !l.recovered.IsZero() && began.After(l.recovered):
		l.wrong = append(l.wrong, fmt.Sprintf("%s served revision %d of the old etcd %s after the recovered one had answered", n.Name, revision, began.Sub(l.recovered)))
	}
}

// end wants one etcd at the end, recovered or not, of which each control plane is a voter.
func (l *lineages) end(t *testing.T, recovered bool) {
	t.Helper()
	l.ended()
	l.looks.Wait()
	for _, w := range l.wrong {
		t.Errorf("never: %s", w)
	}
	ids := map[uint64]bool{}
	for _, n := range shared.Talos.ControlPlanes() {
		must(t, n.Voting(within(t)))
		c, err := n.Etcd(within(t))
		must(t, err)
		list, err := c.MemberList(within(t))
		must(t, err)
		seen, err := c.Get(within(t), "nothing")
		must(t, err)
		must(t, c.Close())
		ids[list.Header.ClusterId] = true
		voters := 0
		for _, m := range list.Members {
			if !m.IsLearner && len(m.ClientURLs) > 0 {
				voters++
			}
		}
		if voters != len(shared.Talos.ControlPlanes()) || seen.Header.Revision >= l.floor != recovered {
			t.Errorf("%s has %d voters at revision %d; it is to be recovered: %t, from %d on", n.Name, voters, seen.Header.Revision, recovered, l.floor)
		}
	}
	if len(ids) != 1 {
		t.Errorf("the control planes are in %d etcd clusters: %x", len(ids), slices.Sorted(maps.Keys(ids)))
	}
}
