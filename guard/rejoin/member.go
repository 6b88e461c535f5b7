package rejoin

import (
	"fmt"
	"slices"
)

// member judges a disk with an identity by the live list. Who is listed starts,
// whatever else the disk says; who is not, was removed.
func (f Facts) member() Verdict {
	if f.foreign(f.Disk.ClusterID) {
		return f.otherDisk()
	}
	if f.Live.ClusterID != f.Disk.ClusterID {
		return refuse(ErrOtherCluster, ByList, "the disk is of cluster %s and the cluster that answers is %s: give this member a volume of its own, or an empty one", f.Disk.ClusterID, f.Live.ClusterID)
	}
	m, listed := f.Live.ByID(f.Disk.MemberID)
	if !listed {
		return f.absent()
	}
	if f.isOther(m) {
		return refuse(ErrCopiedVolume, ByList, "member %s on the disk is %s in the cluster and this is %s: give this member a volume of its own, or an empty one", m.ID, orPeers(m), f.Self.Name)
	}
	return do(Start, ByList, "member %s is in the list of cluster %s", m.ID, f.Live.ClusterID)
}

func (f Facts) absent() Verdict {
	if f.Tombstone.Answer == NotAsked {
		return do(AskTombstone, ByList, "member %s is not in the list of cluster %s", f.Disk.MemberID, f.Live.ClusterID)
	}
	return refuse(ErrMemberPermanentlyRemoved, ByList, "member %s is not in the list of cluster %s; removed by the ledger: %s, by the tombstone: %s, by the log: %s: it is joined afresh on an empty volume, if its ordinal belongs",
		f.Disk.MemberID, f.Live.ClusterID, f.LedgerSays(), f.Tombstone, f.Logged)
}

// isOther tells whether the listed member of the disk's ID is somebody else. One
// that has not published its name yet is known by its peer URLs.
func (f Facts) isOther(m Member) bool {
	if m.Name != "" {
		return m.Name != f.Self.Name
	}
	return !f.Mine(m)
}

// Mine tells whether the member has a peer URL of this one.
func (f Facts) Mine(m Member) bool {
	return slices.ContainsFunc(m.PeerURLs, func(url string) bool { return slices.Contains(f.Self.PeerURLs, url) })
}

func orPeers(m Member) string {
	if m.Name != "" {
		return m.Name
	}
	return fmt.Sprint(m.PeerURLs)
}

// ByID finds a member.
func (l Live) ByID(id ID) (Member, bool) {
	i := slices.IndexFunc(l.Members, func(m Member) bool { return m.ID == id })
	if i < 0 {
		return Member{}, false
	}
	return l.Members[i], true
}

// LedgerSays is the testimony of the ledger about the disk's member.
func (f Facts) LedgerSays() Witness {
	out := Witness{Answer: No}
	for _, r := range f.Ledger {
		if r.MemberID != f.Disk.MemberID || r.ClusterID != f.Disk.ClusterID {
			continue
		}
		if r.Confirmed {
			return Witness{Answer: Yes, Why: "confirmed"}
		}
		out.Why = "intended, not confirmed"
	}
	return out
}

func (f Facts) otherDisk() Verdict {
	return refuse(ErrOtherCluster, ByConfiguration, "the disk is of cluster %s and this member belongs to %s: give it a volume of its own, or an empty one", f.Disk.ClusterID, f.Self.cluster())
}

// unanswered judges a disk with an identity when the cluster is silent. It may be
// silent because it waits for this very member, so a doubt alone holds nobody up;
// what cannot be read is more than a doubt.
func (f Facts) unanswered() Verdict {
	id, cluster := f.Disk.MemberID, f.Disk.ClusterID
	switch {
	case f.foreign(cluster):
		return f.otherDisk()
	case f.ofAnother() != "":
		return refuse(ErrCopiedVolume, ByDisk, "the disk with member %s is that of %s and this is %s: give this member a volume of its own, or an empty one", id, f.ofAnother(), f.Self.Name)
	case f.LedgerSays().Answer == Yes:
		return refuse(ErrMemberPermanentlyRemoved, ByLedger, "the ledger has the confirmed removal of member %s of cluster %s: it is joined afresh on an empty volume, if its ordinal belongs", id, cluster)
	case f.Tombstone.Answer == NotAsked:
		return do(AskTombstone, ByDisk, "the cluster does not answer: %s", f.Live.Why)
	case f.Tombstone.Answer == Yes:
		return refuse(ErrMemberPermanentlyRemoved, ByTombstone, "member %s of cluster %s has its own tombstone: it is joined afresh on an empty volume, if its ordinal belongs", id, cluster)
	case f.Logged.Answer == NotAsked:
		return do(AskLog, ByDisk, "the cluster does not answer: %s", f.Live.Why)
	case f.Logged.Answer == Yes:
		return refuse(ErrMemberPermanentlyRemoved, ByLog, "member %s of cluster %s has its own removal in its log (%s): it is joined afresh on an empty volume, if its ordinal belongs", id, cluster, f.Logged.Why)
	case f.Tombstone.Answer == Unreadable && !f.Self.Accepted:
		return f.unreadable(ByTombstone, "the tombstones", f.Tombstone)
	case f.Logged.Answer == Unreadable && !f.Self.Accepted:
		return f.unreadable(ByLog, "the log", f.Logged)
	}
	return do(Start, ByDisk, "the cluster does not answer (%s), and nothing says that member %s was removed: ledger %s, tombstone %s, log %s",
		f.Live.Why, id, f.LedgerSays(), f.Tombstone, f.Logged)
}

func (f Facts) unreadable(by By, what string, w Witness) Verdict {
	return mayPass(refuse(ErrMembershipCheckFailed, by, "the cluster does not answer (%s) and %s cannot be read (%s): heal the cluster, replace this member's volume, or, if you know that member %s was never removed, put it on the list accept of the configuration",
		f.Live.Why, what, w.Why, f.Disk.MemberID))
}

// ofAnother names the member that the disk was set up for, if that is another one:
// by the name on it, or since the ID is that of another founder.
func (f Facts) ofAnother() string {
	for _, name := range []string{f.Disk.Name, f.Self.Founding.Members[f.Disk.MemberID]} {
		if name != "" && name != f.Self.Name {
			return name
		}
	}
	return ""
}
