package machines

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// story is each state that the objects of a namespace were seen in: what passes quickly
// is not missed.
type story struct {
	mu       sync.Mutex
	machines []*v1alpha1.TalosMachine
	clusters []*v1alpha1.TalosCluster
	ended    map[string]time.Time // machines that are gone
	broken   error
}

// follow watches until the test ends.
func follow(t *testing.T, ns string) *story {
	t.Helper()
	s := &story{ended: map[string]time.Time{}}
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	for _, list := range []client.ObjectList{&v1alpha1.TalosMachineList{}, &v1alpha1.TalosClusterList{}} {
		w, err := admin.Watch(ctx, list, client.InNamespace(ns))
		if err != nil {
			cancel()
			t.Fatal(err)
		}
		following.Go(func() { s.read(ctx, w) })
	}
	t.Cleanup(func() {
		cancel()
		following.Wait()
		must(t, s.broken)
	})
	return s
}

func (s *story) read(ctx context.Context, w watch.Interface) {
	defer w.Stop()
	for event := range w.ResultChan() {
		s.note(event)
	}
	if ctx.Err() == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.broken = errors.New("the API server ended the watch of a test: its story has a hole")
	}
}

func (s *story) note(event watch.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := event.Object.(type) {
	case *v1alpha1.TalosMachine:
		s.machines = append(s.machines, o)
		if event.Type == watch.Deleted {
			s.ended[o.Name] = time.Now()
		}
	case *v1alpha1.TalosCluster:
		s.clusters = append(s.clusters, o)
	}
}

// removals are the reasons of the machine's condition Removal in their order, each
// once in a row.
func (s *story) removals(name string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.machines {
		c := meta.FindStatusCondition(m.Status.Conditions, v1alpha1.ConditionRemoval)
		if m.Name == name && c != nil && (len(out) == 0 || out[len(out)-1] != c.Reason) {
			out = append(out, c.Reason)
		}
	}
	return out
}

// ledger is what TalosCluster's ledger said of members at this peer URL, in order.
func (s *story) ledger(peerURL string) (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clusters {
		for _, r := range c.Status.RemovedMembers {
			line := string(r.ID) + " " + string(r.State)
			if slices.Contains(r.PeerURLs, v1alpha1.URL(peerURL)) && !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

// end is when the machine's object went, and zero if it has not.
func (s *story) end(name string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[name]
}
