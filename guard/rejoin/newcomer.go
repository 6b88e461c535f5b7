package rejoin

import (
	"slices"
)

// newcomer judges an empty disk by the live list.
func (f Facts) newcomer() Verdict {
	if v, ok := f.misplaced(); ok {
		return v
	}
	m, listed := f.listedByURL()
	switch {
	case listed && m.Started():
		return refuse(ErrDiskLost, ByList, "member %s (%s) has run with the peer URLs %v and this disk has no WAL: it must be removed and joined afresh", m.ID, orPeers(m), m.PeerURLs)
	case listed && f.Self.Founder && m.Name == f.Self.Name:
		return do(StartAsFounder, ByList, "member %s of cluster %s is a founder that never started", m.ID, f.Live.ClusterID)
	case listed:
		return do(StartAsListed, ByList, "member %s of cluster %s was added with the peer URLs %v and never started", m.ID, f.Live.ClusterID, m.PeerURLs)
	case f.Self.ClusterID != 0 || f.Self.Source:
		return do(Join, ByList, "cluster %s has no member with the peer URLs %v", f.Live.ClusterID, f.Self.PeerURLs)
	}
	return do(Wait, ByConfiguration, "a cluster %s answers, and none was recorded yet: wait until the controller has recorded it", f.Live.ClusterID)
}

// alone judges an empty disk when the cluster is silent. A cluster that had an ID
// once exists, however silent it is: no other may be formed in its place.
func (f Facts) alone() Verdict {
	if v, ok := f.misplaced(); ok {
		return v
	}
	switch {
	case f.Self.ClusterID != 0:
		return do(Wait, ByConfiguration, "this disk is empty and cluster %s does not answer (%s): wait until it does", f.Self.ClusterID, f.Live.Why)
	case f.Self.Source:
		return do(Wait, ByConfiguration, "this disk is empty and the cluster to join does not answer (%s): wait until it does", f.Live.Why)
	case f.Self.Founder:
		return do(StartAsFounder, ByConfiguration, "the cluster has never formed, and this member is one of its founders")
	}
	return do(Wait, ByConfiguration, "the cluster has never formed, and this member is none of its founders: wait for them (%s)", f.Live.Why)
}

// misplaced is for an empty disk that no cluster waits for.
func (f Facts) misplaced() (Verdict, bool) {
	switch {
	case f.Self.Ordinal >= f.Self.Replicas:
		return refuse(ErrBeyondReplicas, ByConfiguration, "ordinal %d has no place in %d replicas, and its disk is empty: it is deleted by the controller", f.Self.Ordinal, f.Self.Replicas), true
	case f.Live.Answered && f.Self.ClusterID != 0 && f.Self.ClusterID != f.Live.ClusterID:
		return refuse(ErrOtherCluster, ByConfiguration, "cluster %s answers and this member belongs to %s: see what serves its endpoints", f.Live.ClusterID, f.Self.ClusterID), true
	}
	return Verdict{}, false
}

func (f Facts) listedByURL() (Member, bool) {
	i := slices.IndexFunc(f.Live.Members, f.Mine)
	if i < 0 {
		return Member{}, false
	}
	return f.Live.Members[i], true
}

// damaged judges a WAL without readable IDs by the live list. A listed member is
// healed by being replaced, and that is not decided here: etcd may start, or fail.
func (f Facts) damaged() Verdict {
	m, listed := f.listedByURL()
	if listed && !f.isOther(m) {
		return do(Start, ByList, "member %s is in the list of cluster %s; its WAL is damaged (%s): if etcd does not start, the controller replaces the member", m.ID, f.Live.ClusterID, f.Disk.Why)
	}
	return refuse(ErrMembershipCheckFailed, ByDisk, "the IDs in the WAL cannot be read (%s) and cluster %s has no member %s with the peer URLs %v: replace this member's volume", f.Disk.Why, f.Live.ClusterID, f.Self.Name, f.Self.PeerURLs)
}
