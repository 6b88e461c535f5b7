package rejoin

import (
	"fmt"
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
		return f.found(ByList, fmt.Sprintf("member %s of cluster %s is a founder that never started", m.ID, f.Live.ClusterID))
	case listed:
		return do(StartAsListed, ByList, "member %s of cluster %s was added with the peer URLs %v and never started", m.ID, f.Live.ClusterID, m.PeerURLs)
	case f.Self.ClusterID != 0 || f.Self.Source:
		return do(Join, ByList, "cluster %s has no member with the peer URLs %v", f.Live.ClusterID, f.Self.PeerURLs)
	}
	return do(Wait, ByConfiguration, "cluster %s answers, and the configuration has no cluster ID yet: wait until the controller has recorded it; if it never does, see its log", f.Live.ClusterID)
}

// found starts a founder, unless its disk says that it has run before: it would
// forget the votes that it gave.
func (f Facts) found(by By, reason string) Verdict {
	switch f.Applied.Answer {
	case NotAsked:
		return do(AskApplied, by, "%s", reason)
	case No:
		return do(StartAsFounder, by, "%s", reason)
	case Unreadable:
		return refuse(ErrDiskLost, ByDisk, "the disk has no WAL, and whether it has a database with data cannot be told (%s), so this founder may have run: mend that, or remove it and join it afresh, or restore the cluster from a backup", f.Applied.Why)
	}
	return refuse(ErrDiskLost, ByDisk, "the disk has a database (%s) and no WAL, so this founder has run: it must be removed and joined afresh, or the cluster restored from a backup", f.Applied)
}

// alone judges an empty disk when the cluster is silent. A cluster that had an ID
// once exists, however silent it is: no other may be formed in its place.
func (f Facts) alone() Verdict {
	if v, ok := f.misplaced(); ok {
		return v
	}
	switch {
	case f.Self.ClusterID != 0:
		return do(Wait, ByConfiguration, "this disk is empty and cluster %s does not answer (%s): heal its members; if all their disks are lost, restore it from a backup", f.Self.ClusterID, f.Live.Why)
	case f.Self.Source:
		return do(Wait, ByConfiguration, "this disk is empty and the cluster to join does not answer (%s): wait until it does", f.Live.Why)
	case f.Self.Founder:
		return f.found(ByConfiguration, "the cluster has never formed, and this member is one of its founders")
	}
	return do(Wait, ByConfiguration, "the cluster has never formed, and this member is none of its founders: wait for them (%s)", f.Live.Why)
}

// misplaced is for an empty disk that no cluster waits for. Both may pass: the
// configuration may be an old one, and the pods that answer too.
func (f Facts) misplaced() (Verdict, bool) {
	switch {
	case f.Self.Ordinal >= f.Self.Replicas:
		return mayPass(refuse(ErrBeyondReplicas, ByConfiguration, "ordinal %d has no place in %d replicas, and its disk is empty: it is deleted by the controller", f.Self.Ordinal, f.Self.Replicas)), true
	case f.Live.Answered && f.foreign(f.Live.ClusterID):
		return mayPass(refuse(ErrOtherCluster, ByConfiguration, "cluster %s answers at %s and this member belongs to %s: see what serves there", f.Live.ClusterID, f.Live.Endpoint, f.Self.cluster())), true
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
	if listed && !f.isOther(m) && !f.foreign(f.Live.ClusterID) {
		return do(Start, ByList, "member %s is in the list of cluster %s; its WAL is damaged (%s): if etcd does not start, the controller replaces the member", m.ID, f.Live.ClusterID, f.Disk.Why)
	}
	return refuse(ErrMembershipCheckFailed, ByDisk, "the IDs in the WAL cannot be read (%s) and cluster %s has no member %s with the peer URLs %v: replace this member's volume", f.Disk.Why, f.Live.ClusterID, f.Self.Name, f.Self.PeerURLs)
}
