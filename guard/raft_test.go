package guard

import (
	"io"
	"log"
	"math/rand/v2"
	"testing"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// network is real raft nodes in memory: those that can take part, with what the
// others would have said never arriving.
type network struct {
	nodes   map[uint64]*raft.RawNode
	stores  map[uint64]*raft.MemoryStorage
	applied map[uint64]int // normal entries with data, by node
	members map[uint64]bool
}

var quiet = &raft.DefaultLogger{Logger: log.New(io.Discard, "", 0)}

// newNetwork starts the healthy members of a cluster in which all members are
// configured as they are.
func newNetwork(t testing.TB, members []Member) *network {
	t.Helper()
	conf := &raftpb.ConfState{}
	for _, m := range members {
		if m.Learner {
			conf.Learners = append(conf.Learners, m.ID)
		} else {
			conf.Voters = append(conf.Voters, m.ID)
		}
	}
	n := &network{map[uint64]*raft.RawNode{}, map[uint64]*raft.MemoryStorage{}, map[uint64]int{}, map[uint64]bool{}}
	for _, m := range members {
		n.members[m.ID] = true
		if !m.Started || !m.Healthy {
			continue
		}
		store := raft.NewMemoryStorage()
		first := &raftpb.Snapshot{Metadata: &raftpb.SnapshotMetadata{ConfState: conf, Index: proto.Uint64(1), Term: proto.Uint64(1)}}
		if err := store.ApplySnapshot(first); err != nil {
			t.Fatal(err)
		}
		node, err := raft.NewRawNode(&raft.Config{
			ID: m.ID, ElectionTick: 10, HeartbeatTick: 1, Storage: store, Applied: 1,
			MaxSizePerMsg: 1 << 20, MaxInflightMsgs: 16, Logger: quiet,
		})
		if err != nil {
			t.Fatal(err)
		}
		n.nodes[m.ID], n.stores[m.ID] = node, store
	}
	return n
}

// settle delivers everything until nobody has anything to say.
func (n *network) settle(t testing.TB) {
	t.Helper()
	for range 1000 {
		busy := false
		for id, node := range n.nodes {
			if node.HasReady() {
				busy = true
				n.handle(t, id, node)
			}
		}
		if !busy {
			return
		}
	}
	t.Fatal("the network does not settle")
}

func (n *network) handle(t testing.TB, id uint64, node *raft.RawNode) {
	t.Helper()
	ready := node.Ready()
	if ready.HardState != nil && !raft.IsEmptyHardState(ready.HardState) {
		if err := n.stores[id].SetHardState(ready.HardState); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.stores[id].Append(ready.Entries); err != nil {
		t.Fatal(err)
	}
	for _, m := range ready.Messages {
		if to := n.nodes[m.GetTo()]; to != nil {
			_ = to.Step(m) // a message of the past is refused, as it should be
		}
	}
	for _, e := range ready.CommittedEntries {
		n.apply(t, id, node, e)
	}
	node.Advance(ready)
}

func (n *network) apply(t testing.TB, id uint64, node *raft.RawNode, e *raftpb.Entry) {
	t.Helper()
	switch {
	case e.GetType() == raftpb.EntryConfChange:
		change := &raftpb.ConfChange{}
		if err := proto.Unmarshal(e.GetData(), change); err != nil {
			t.Fatal(err)
		}
		node.ApplyConfChange(change)
		delete(n.members, change.GetNodeId())
	case len(e.GetData()) > 0:
		n.applied[id]++
	}
}

// elect lets members stand for election until one leads; 0 if none can. Tried first,
// prefer leads if it can.
func (n *network) elect(t testing.TB, prefer uint64) uint64 {
	t.Helper()
	candidates := []uint64{prefer}
	for id := range n.nodes {
		candidates = append(candidates, id)
	}
	for _, id := range candidates {
		node := n.nodes[id]
		if node == nil || !n.members[id] {
			continue
		}
		if err := node.Campaign(); err != nil {
			continue
		}
		n.settle(t)
		if node.Status().RaftState == raft.StateLeader {
			return id
		}
	}
	return 0
}

// removes tells whether the leader can get the removal of a member committed.
func (n *network) removes(t testing.TB, leader, target uint64) bool {
	t.Helper()
	change := &raftpb.ConfChange{Type: raftpb.ConfChangeRemoveNode.Enum(), NodeId: proto.Uint64(target)}
	if err := n.nodes[leader].ProposeConfChange(change); err != nil {
		return false
	}
	n.settle(t)
	return !n.members[target]
}

// commits tells whether the members can get an entry committed.
func (n *network) commits(t testing.TB, prefer uint64) bool {
	t.Helper()
	leader := n.elect(t, prefer)
	if leader == 0 {
		return false
	}
	before := n.applied[leader]
	if err := n.nodes[leader].Propose([]byte{byte(rand.IntN(256))}); err != nil {
		return false
	}
	n.settle(t)
	return n.applied[leader] > before
}

// survives is the truth about a removal: what real raft nodes can do.
func survives(t testing.TB, members []Member, target uint64) bool {
	t.Helper()
	if v := count(members).Voters; v == 0 || v == 1 && !learner(members, target) {
		return false // raft does not know a cluster without voters
	}
	n := newNetwork(t, members)
	var prefer uint64
	for _, m := range members {
		if m.Leader {
			prefer = m.ID
		}
	}
	leader := n.elect(t, prefer)
	if leader == 0 || !n.removes(t, leader, target) {
		return false
	}
	delete(n.nodes, target)
	return n.commits(t, prefer)
}

func learner(members []Member, id uint64) bool {
	m, _ := byID(members, id)
	return m.Learner
}
