package chaos

import (
	"context"
	"fmt"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// hiccup is how long no write may be acknowledged before that counts as an outage.
	hiccup = time.Second
	// sampleEvery is how often the members are asked for their leader.
	sampleEvery = 500 * time.Millisecond
)

// outage sums up what was missing, and when.
type outage struct{ total, longest time.Duration }

func (o *outage) add(d time.Duration) {
	o.total += d
	o.longest = max(o.longest, d)
}

func (o outage) String() string {
	return fmt.Sprintf("%s in all, %s at the longest", o.total.Round(100*time.Millisecond), o.longest.Round(100*time.Millisecond))
}

// meter measures outages, those of a cluster that is asked to sleep apart: from the
// edit to 0 until the edit that wakes it.
type meter struct {
	mu         sync.Mutex
	last, lead time.Time
	asleep     bool
	awake      time.Duration
	since      time.Time
	count      int
	// writes and leader are outages of a cluster that should be awake, sleep is the rest.
	writes, leader, sleep outage
}

func newMeter() *meter {
	now := time.Now()
	return &meter{last: now, lead: now, since: now}
}

// acknowledged is told of each write that was.
func (m *meter) acknowledged() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	now := time.Now()
	m.close(now)
	m.led(now, true) // nobody else commits
}

func (m *meter) close(now time.Time) {
	gap := now.Sub(m.last)
	m.last = now
	switch {
	case gap <= hiccup:
	case m.asleep:
		m.sleep.add(gap)
	default:
		m.writes.add(gap)
	}
}

// sleeps is told of an edit to or from 0.
func (m *meter) sleeps(asleep bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.close(now)
	m.led(now, true)
	if !m.asleep {
		m.awake += now.Sub(m.since)
	}
	m.asleep, m.since = asleep, now
}

// led is told of each sample, and of each commit.
func (m *meter) led(now time.Time, is bool) {
	if !is {
		return
	}
	if gap := now.Sub(m.lead); gap > 2*sampleEvery && !m.asleep {
		m.leader.add(gap)
	}
	m.lead = now
}

// watch asks the members who leads.
func (m *meter) watch(ctx context.Context, members map[string]*clientv3.Client) {
	tick := time.NewTicker(sampleEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			is := anyLeads(ctx, members)
			m.mu.Lock()
			m.led(time.Now(), is)
			m.mu.Unlock()
		}
	}
}

// anyLeads tells whether a member says of itself that it leads.
func anyLeads(ctx context.Context, members map[string]*clientv3.Client) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answers := make(chan bool, len(members))
	for url, c := range members {
		go func() {
			s, err := c.Status(ctx, url)
			answers <- err == nil && s.Leader != 0 && s.Leader == s.Header.MemberId
		}()
	}
	for range members {
		if <-answers {
			return true
		}
	}
	return false
}

func (m *meter) report() string {
	m.sleeps(m.asleep) // closes what is open
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("awake for %s; without an acknowledged write (over %s): %s; without a leader (sampled each %s): %s; asleep, without writes: %s; writes acknowledged: %d",
		m.awake.Round(time.Second), hiccup, m.writes, sampleEvery, m.leader, m.sleep, m.count)
}
