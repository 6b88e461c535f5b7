package guarded

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestScaleOut: 1, 3, 5 members under constant writes. All new pods start at once;
// each joins as a learner in its turn and is promoted, and no acknowledged write is
// lost.
func TestScaleOut(t *testing.T) {
	s := newSet(t, 5, 1)
	s.form()
	w := s.write(s.pods[0])
	watched := s.watchLearners(s.pods[0])
	for _, n := range []int{3, 5} {
		s.scale(n)
		s.ready(s.pods[:n]...)
		s.voters(s.pods[:n]...)
	}
	looks, most, learners := watched()
	acknowledged, failed := w()
	for _, p := range s.pods {
		s.has(p, acknowledged)
	}
	t.Logf("%d writes acknowledged, all of them with each of 5 members; %d not acknowledged; %d looks at the list, at most %d learner at a time, %d learners in all",
		acknowledged, failed, looks, most, len(learners))
	if most != 1 {
		t.Errorf("%d learners at a time", most)
	}
	if len(learners) != 4 {
		t.Errorf("learners %v: each of 4 new members should have been one, once", learners)
	}
}

// write writes one key after the other until the returned function is called,
// which answers how many were acknowledged: key i of those has the value i.
func (s *set) write(via ...*pod) func() (acknowledged, failed int) {
	client := s.client(via...)
	var stop atomic.Bool
	var done sync.WaitGroup
	acknowledged, failed := 0, 0
	done.Go(func() {
		for !stop.Load() {
			ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
			_, err := client.Put(ctx, writtenKey(acknowledged), fmt.Sprint(acknowledged))
			cancel()
			if err != nil {
				failed++ // it is written again: the same key and value
				continue
			}
			acknowledged++
		}
	})
	return func() (int, int) {
		stop.Store(true)
		done.Wait()
		return acknowledged, failed
	}
}

func writtenKey(i int) string { return fmt.Sprintf("written/%08d", i) }

// has wants the first n writes from the pod's member itself.
func (s *set) has(p *pod, n int) {
	s.t.Helper()
	response, err := s.client(p).Get(s.t.Context(), writtenKey(0), clientv3.WithRange(writtenKey(n)))
	must(s.t, err)
	if len(response.Kvs) != n {
		s.t.Fatalf("%s has %d of %d writes", p.Name, len(response.Kvs), n)
	}
	for i, kv := range response.Kvs {
		if string(kv.Value) != fmt.Sprint(i) {
			s.t.Fatalf("%s has %s = %s", p.Name, kv.Key, kv.Value)
		}
	}
}

// watchLearners looks at the list until the returned function is called: how
// often, how many learners there were at most, and the IDs of all.
func (s *set) watchLearners(via *pod) func() (looks, most int, ids []uint64) {
	client := s.client(via)
	ctx, cancel := context.WithCancel(s.t.Context())
	var done sync.WaitGroup
	looks, most := 0, 0
	var ids []uint64
	done.Go(func() {
		for ctx.Err() == nil {
			list, err := client.MemberList(ctx)
			if err != nil {
				continue
			}
			looks++
			now := 0
			for _, m := range list.Members {
				if !m.IsLearner {
					continue
				}
				now++
				if !slices.Contains(ids, m.ID) {
					ids = append(ids, m.ID)
				}
			}
			most = max(most, now)
			select {
			case <-ctx.Done():
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() (int, int, []uint64) {
		cancel()
		done.Wait()
		return looks, most, ids
	}
}
