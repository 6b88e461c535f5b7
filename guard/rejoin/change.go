package rejoin

import (
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// changeOf tells whether an entry removes or adds the member; known is false if it
// does neither. Promotion is an addition here: it adds the learner as a voter. That
// a member is not there any more is only ever said by these two types of entry:
// ClusterMemberAttrSet and its like (3.5 and later) change names and URLs.
func changeOf(e *raftpb.Entry, id ID) (removed, known bool, err error) {
	switch e.GetType() {
	case raftpb.EntryConfChange:
		var c raftpb.ConfChange
		err = proto.Unmarshal(e.GetData(), &c)
		removed, known = kind(c.GetType(), c.GetNodeId(), id)
	case raftpb.EntryConfChangeV2:
		var c raftpb.ConfChangeV2
		err = proto.Unmarshal(e.GetData(), &c)
		for _, one := range c.GetChanges() {
			if r, k := kind(one.GetType(), one.GetNodeId(), id); k {
				removed, known = r, true
			}
		}
	}
	return removed, known, err
}

func kind(t raftpb.ConfChangeType, node uint64, id ID) (removed, known bool) {
	if ID(node) != id {
		return false, false
	}
	return t == raftpb.ConfChangeRemoveNode, t != raftpb.ConfChangeUpdateNode
}
