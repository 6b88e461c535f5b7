package cluster

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// sighting is when an unexplained member was first seen, and which events told of it.
type sighting struct {
	first          time.Time
	told, rejoined bool
}

// sightings are those of all clusters. A cluster has one reconcile at a time, so its
// own sightings need no lock.
type sightings struct {
	mu    sync.Mutex
	rolls map[types.NamespacedName]roll
}

// roll is that of one cluster, by member ID.
type roll struct {
	uid  types.UID
	seen map[uint64]*sighting
}

// of are the cluster's, with an entry for each of these members and for no other; first
// is set if this process sees the cluster for the first time.
func (s *sightings) of(cluster *v1alpha1.TalosCluster, unknown []guard.Member, now time.Time) (seen map[uint64]*sighting, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := client.ObjectKeyFromObject(cluster)
	r, ok := s.rolls[key]
	if !ok || r.uid != cluster.UID {
		r, first = roll{cluster.UID, map[uint64]*sighting{}}, true
		if s.rolls == nil {
			s.rolls = map[types.NamespacedName]roll{}
		}
		s.rolls[key] = r
	}
	for _, m := range unknown {
		if r.seen[m.ID] == nil {
			r.seen[m.ID] = &sighting{first: now}
		}
	}
	for id := range r.seen {
		if !slices.ContainsFunc(unknown, func(m guard.Member) bool { return m.ID == id }) {
			delete(r.seen, id)
		}
	}
	return r.seen, first
}

func (s *sightings) drop(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.rolls, key)
}

// forget drops what is kept of a cluster that is gone.
func (r *Reconciler) forget(key types.NamespacedName) {
	r.seen.drop(key)
	r.Metrics.forget(key)
}
