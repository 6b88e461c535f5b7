package guard

import (
	"slices"
	"testing"
)

func place(ordinal int, id uint64) Own {
	name := "a-" + string(rune('0'+ordinal))
	if ordinal == 10 {
		name = "a-10"
	}
	return Own{Ordinal: ordinal, Name: name, PeerURLs: []string{"https://" + name + ".a-peer.example.com:2380"}, ID: id}
}

func live(o Own, id uint64) Member {
	return Member{ID: id, Name: o.Name, PeerURLs: o.PeerURLs, Started: true, Healthy: true}
}

func source(name string, id uint64) Member {
	return Member{ID: id, Name: name, PeerURLs: []string{"https://" + name + ".old.example.com:2380"}, Started: true, Healthy: true}
}

func ids(members []Member) (out []uint64) {
	for _, m := range members {
		out = append(out, m.ID)
	}
	return out
}

//
func TestScaleInCandidates(t *testing.T) {
	var places []Own
	for i := range 5 {
		places = append(places, place(i, uint64(10+i)))
	}
	own := []Member{live(places[0], 10), live(places[1], 11), live(places[2], 12), live(places[3], 13), live(places[4], 14)}
	unstarted := Member{ID: 20, PeerURLs: places[4].PeerURLs, Learner: true}
	renamed := Member{ID: 14, Name: "somebody", PeerURLs: []string{"https://x.example.com:2380"}, Started: true}
	namesake := source("a-4", 30)
	squatter := Member{ID: 31, Name: "b-4", PeerURLs: places[4].PeerURLs, Started: true}
	for _, c := range []struct {
		name     string
		members  []Member
		places   []Own
		replicas int
		want     []uint64
	}{
		{"5 to 3, the highest first", own, places, 3, []uint64{14, 13}},
		{"5 to 5", own, places, 5, nil},
		{"hibernation has none", own, places, 0, nil},
		{"one is gone already", own[:4], places, 3, []uint64{13}},
		{"the recorded ID, whatever its name", append(slices.Clone(own[:4]), renamed), places, 3, []uint64{14, 13}},
		{"one that never started, by its peer URL", append(slices.Clone(own[:4]), unstarted), places, 3, []uint64{20, 13}},
		{"a source member of our name is not ours", append(slices.Clone(own[:3]), namesake), places, 3, nil},
		{"another name at our peer URL is not ours", append(slices.Clone(own[:3]), squatter), places, 3, nil},
		{"a-10 is not a-1", []Member{live(place(1, 0), 1), live(place(10, 0), 2)}, []Own{place(1, 0), place(10, 0)}, 2, []uint64{2}},
		{"the same member by ID and by name", []Member{own[4]}, append(slices.Clone(places), place(4, 0)), 4, []uint64{14}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ids(ScaleInCandidates(c.members, c.places, c.replicas)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

//
func TestBootstrapCandidates(t *testing.T) {
	places := []Own{place(0, 10), place(1, 11)}
	members := []Member{live(places[0], 10), live(places[1], 11), source("s0", 1), source("s1", 2), source("s2", 3)}
	joined := []Source{{"s0", source("s0", 0).PeerURLs}, {"s1", source("s1", 0).PeerURLs}}
	for _, c := range []struct {
		name    string
		members []Member
		joined  []Source
		listed  []string
		want    []uint64
	}{
		{"one is not listed any more", members, joined, []string{"s0"}, []uint64{2}},
		{"unset: all that joined, and nobody else", members, joined, nil, []uint64{1, 2}},
		{"nothing changed", members, joined, []string{"s1", "s0", "s9"}, nil},
		{"nobody has joined", members, nil, nil, nil},
		{"gone from the cluster", members[:3], joined, []string{"s0"}, nil},
		{"the name at another place", []Member{{ID: 5, Name: "s1", PeerURLs: []string{"https://s1.new.example.com:2380"}}}, joined, []string{"s0"}, nil},
		{"an own member is never one", []Member{members[0]}, []Source{{places[0].Name, places[0].PeerURLs}}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ids(BootstrapCandidates(c.members, c.joined, c.listed, places)); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

//
func TestOrder(t *testing.T) {
	voter := func(id uint64) Member { return Member{ID: id, Started: true, Healthy: true} }
	leader, ill, fresh, learner := voter(1), voter(2), Member{ID: 3}, voter(4)
	leader.Leader, ill.Healthy, learner.Learner = true, false, true
	if got := ids(Order([]Member{leader, voter(5), learner, ill, voter(6), fresh})); !slices.Equal(got, []uint64{2, 3, 4, 5, 6, 1}) {
		t.Errorf("order %v", got)
	}
}

func TestNext(t *testing.T) {
	voter := func(id uint64) Member { return Member{ID: id, Started: true, Healthy: true} }
	ill, learner := voter(3), voter(4)
	ill.Healthy, learner.Learner = false, true
	for _, c := range []struct {
		name                string
		members, candidates []Member
		next                uint64
		safe, ok            bool
	}{
		{"the dead one first", []Member{voter(1), voter(2), ill}, []Member{voter(2), ill}, 3, true, true},
		{"a learner although a voter may not go", []Member{voter(1), voter(2), ill, learner}, []Member{voter(2), learner}, 4, true, true},
		{"the first refusal if none may go", []Member{voter(1), ill}, []Member{ill, voter(1)}, 3, false, true},
		{"nobody", []Member{voter(1)}, nil, 0, false, false},
	} {
		next, verdict, ok := Next(c.members, c.candidates)
		if next.ID != c.next || verdict.Safe != c.safe || ok != c.ok {
			t.Errorf("%s: %d, %+v, %t", c.name, next.ID, verdict, ok)
		}
	}
}

func TestSuccessor(t *testing.T) {
	leader, goes, ill, learner, stays := Member{ID: 1, Started: true, Healthy: true, Leader: true}, Member{ID: 2, Started: true, Healthy: true}, Member{ID: 3, Started: true}, Member{ID: 4, Started: true, Healthy: true, Learner: true}, Member{ID: 5, Started: true, Healthy: true}
	if got, ok := Successor([]Member{leader, goes, ill, learner, stays}, []Member{leader, goes}); !ok || got.ID != 5 {
		t.Errorf("%d, %t", got.ID, ok)
	}
	if got, ok := Successor([]Member{leader, goes, ill, learner}, []Member{leader, goes}); ok {
		t.Errorf("%d leads next", got.ID)
	}
}
