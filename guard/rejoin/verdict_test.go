package rejoin

import (
	"errors"
	"strings"
	"testing"
)

// The cluster of these tests: 0xc with main-0 (0xa), main-1 (0xb).
const ours, me ID = 0xc, 0xa

func self() Self {
	return Self{Name: "main-0", PeerURLs: []string{"https://main-0.example.com:2380"}, Replicas: 3, Founder: true, ClusterID: ours}
}

func mine() Member {
	return Member{ID: me, Name: "main-0", PeerURLs: []string{"https://main-0.example.com:2380"}, ClientURLs: []string{"https://main-0.example.com:2379"}}
}

func another() Member {
	return Member{ID: 0xb, Name: "main-1", PeerURLs: []string{"https://main-1.example.com:2380"}, ClientURLs: []string{"https://main-1.example.com:2379"}}
}

func listing(members ...Member) Live { return Live{Answered: true, ClusterID: ours, Members: members} }

var (
	silent    = Live{Why: "connection refused"}
	disk      = Disk{State: HasWAL, MemberID: me, ClusterID: ours}
	empty     = Disk{State: NoWAL}
	broken    = Disk{State: UnreadableWAL, Why: "not a WAL"}
	confirmed = []Removal{{MemberID: me, ClusterID: ours, Confirmed: true}}
	intended  = []Removal{{MemberID: me, ClusterID: ours}}
	says      = func(a Answer, why string) Witness { return Witness{Answer: a, Why: why} }
)

// changed copies a value and changes it.
func changed[T any](v T, change func(*T)) T {
	change(&v)
	return v
}

func TestJudge(t *testing.T) {
	unstarted := changed(mine(), func(m *Member) { m.ClientURLs = nil })
	nameless := changed(unstarted, func(m *Member) { m.Name, m.Learner = "", true })
	for _, c := range []struct {
		name   string
		facts  Facts
		action Action
		err    error
		by     By
		reason string
	}{
		//
		{"listed", Facts{Disk: disk, Live: listing(mine(), another())}, Start, nil, ByList, "member a is in the list of cluster c"},
		{"listed, with a confirmed removal and a tombstone", Facts{Disk: disk, Live: listing(mine()), Ledger: confirmed, Tombstone: says(Yes, "")}, Start, nil, ByList, "member a is in the list of cluster c"},
		{"listed, beyond the replicas", Facts{Self: changed(self(), func(s *Self) { s.Ordinal = 3 }), Disk: disk, Live: listing(mine())}, Start, nil, ByList, "member a is in the list of cluster c"},
		{"listed, not started yet", Facts{Disk: disk, Live: listing(nameless)}, Start, nil, ByList, "member a is in the list of cluster c"},
		{"listed under another name", Facts{Self: changed(self(), func(s *Self) { s.Name = "main-2" }), Disk: disk, Live: listing(mine())}, Refuse, ErrCopiedVolume, ByList,
			"the disk is a copy of another member's: member a on the disk is main-0 in the cluster and this is main-2: give this member a volume of its own, or an empty one"},
		{"listed with other peer URLs and no name", Facts{Self: changed(self(), func(s *Self) { s.PeerURLs = []string{"https://x.example.com:2380"} }), Disk: disk, Live: listing(nameless)}, Refuse, ErrCopiedVolume, ByList,
			"the disk is a copy of another member's: member a on the disk is [https://main-0.example.com:2380] in the cluster and this is main-0: give this member a volume of its own, or an empty one"},
		{"listed, the WAL damaged", Facts{Disk: broken, Live: listing(mine())}, Start, nil, ByList,
			"member a is in the list of cluster c; its WAL is damaged (not a WAL): if etcd does not start, the controller replaces the member"},

		{"absent", Facts{Disk: disk, Live: listing(another())}, AskTombstone, nil, ByList, "member a is not in the list of cluster c"},
		{"absent, with witnesses", Facts{Disk: disk, Live: listing(another()), Ledger: intended, Tombstone: says(Yes, "")}, Refuse, ErrMemberPermanentlyRemoved, ByList,
			"the member was removed from the cluster for good: member a is not in the list of cluster c; removed by the ledger: no (intended, not confirmed), by the tombstone: yes, by the log: not asked: it is joined afresh on an empty volume, if its ordinal belongs"},
		{"absent, the bolt file unreadable", Facts{Disk: disk, Live: listing(another()), Tombstone: says(Unreadable, "timeout")}, Refuse, ErrMemberPermanentlyRemoved, ByList,
			"the member was removed from the cluster for good: member a is not in the list of cluster c; removed by the ledger: no, by the tombstone: cannot be read (timeout), by the log: not asked: it is joined afresh on an empty volume, if its ordinal belongs"},
		{"the disk of another cluster", Facts{Self: changed(self(), func(s *Self) { s.ClusterID = 0xd }), Disk: disk, Live: Live{Answered: true, ClusterID: 0xd}}, Refuse, ErrOtherCluster, ByConfiguration,
			"another cluster than this member's: the disk is of cluster c and this member belongs to d: give it a volume of its own, or an empty one"},
		{"the disk of another cluster, which answers", Facts{Self: changed(self(), func(s *Self) { s.ClusterID = 0xd }), Disk: disk, Live: listing(mine())}, Refuse, ErrOtherCluster, ByConfiguration,
			"another cluster than this member's: the disk is of cluster c and this member belongs to d: give it a volume of its own, or an empty one"},
		{"the disk of another cluster than the source", Facts{Self: changed(self(), func(s *Self) { s.ClusterID, s.Source = 0, true }), Disk: disk, Live: Live{Answered: true, ClusterID: 0xd}}, Refuse, ErrOtherCluster, ByList,
			"another cluster than this member's: the disk is of cluster c and the cluster that answers is d: give this member a volume of its own, or an empty one"},
		{"the disk of a predecessor, nothing recorded", Facts{Self: changed(self(), func(s *Self) { s.ClusterID, s.Founding = 0, Founding{ClusterID: 0xd} }), Disk: disk, Live: silent}, Refuse, ErrOtherCluster, ByConfiguration,
			"another cluster than this member's: the disk is of cluster c and this member belongs to d: give it a volume of its own, or an empty one"},
		{"denied", Facts{Disk: disk, Live: Live{Denied: true, Why: "user name is empty"}}, Refuse, ErrMembershipCheckFailed, ByList,
			"whether the member was removed cannot be told: the cluster answers, and not to this member's certificate (user name is empty): its common name must be a user of etcd with the role root"},
		{"absent, the WAL damaged", Facts{Disk: broken, Live: listing(another())}, Refuse, ErrMembershipCheckFailed, ByDisk,
			"whether the member was removed cannot be told: the IDs in the WAL cannot be read (not a WAL) and cluster c has no member main-0 with the peer URLs [https://main-0.example.com:2380]: replace this member's volume"},
		{"our peer URLs under another name, the WAL damaged", Facts{Disk: broken, Live: listing(changed(mine(), func(m *Member) { m.Name = "main-7" }))}, Refuse, ErrMembershipCheckFailed, ByDisk,
			"whether the member was removed cannot be told: the IDs in the WAL cannot be read (not a WAL) and cluster c has no member main-0 with the peer URLs [https://main-0.example.com:2380]: replace this member's volume"},

		{"silent, an impostor answers", Facts{Disk: disk, Live: Live{Answered: true, ClusterID: 0xd}}, AskTombstone, nil, ByDisk, "the cluster does not answer: another cluster, d, answers in its place"},
		{"silent, the disk of another", Facts{Disk: changed(disk, func(d *Disk) { d.ClusterID = 0xd }), Live: silent}, Refuse, ErrOtherCluster, ByConfiguration,
			"another cluster than this member's: the disk is of cluster d and this member belongs to c: give it a volume of its own, or an empty one"},
		{"silent, the disk of another founder", Facts{Self: changed(self(), func(s *Self) { s.Founding = Founding{ClusterID: ours, Members: map[ID]string{me: "main-1"}} }), Disk: disk, Live: silent}, Refuse, ErrCopiedVolume, ByDisk,
			"the disk is a copy of another member's: the disk with member a is that of main-1 and this is main-0: give this member a volume of its own, or an empty one"},
		{"silent, the disk of another by the name on it", Facts{Disk: changed(disk, func(d *Disk) { d.Name = "main-2" }), Live: silent}, Refuse, ErrCopiedVolume, ByDisk,
			"the disk is a copy of another member's: the disk with member a is that of main-2 and this is main-0: give this member a volume of its own, or an empty one"},
		{"silent, the own disk by name and ID", Facts{Self: changed(self(), func(s *Self) { s.Founding = Founding{ClusterID: ours, Members: map[ID]string{me: "main-0"}} }), Disk: changed(disk, func(d *Disk) { d.Name = "main-0" }), Live: silent, Tombstone: says(No, ""), Logged: says(No, "")}, Start, nil, ByDisk,
			"the cluster does not answer (connection refused), and nothing says that member a was removed: ledger no, tombstone no, log no"},
		{"silent, unreadable, and accepted", Facts{Self: changed(self(), func(s *Self) { s.Accepted = true }), Disk: disk, Live: silent, Tombstone: says(Unreadable, "timeout"), Logged: says(Unreadable, "checksum")}, Start, nil, ByDisk,
			"the cluster does not answer (connection refused), and nothing says that member a was removed: ledger no, tombstone cannot be read (timeout), log cannot be read (checksum)"},
		{"silent, accepted, and removed by the log", Facts{Self: changed(self(), func(s *Self) { s.Accepted = true }), Disk: disk, Live: silent, Tombstone: says(Unreadable, "timeout"), Logged: says(Yes, "entry 7")}, Refuse, ErrMemberPermanentlyRemoved, ByLog,
			"the member was removed from the cluster for good: member a of cluster c has its own removal in its log (entry 7): it is joined afresh on an empty volume, if its ordinal belongs"},
		{"silent, confirmed in the ledger", Facts{Disk: disk, Live: silent, Ledger: confirmed}, Refuse, ErrMemberPermanentlyRemoved, ByLedger,
			"the member was removed from the cluster for good: the ledger has the confirmed removal of member a of cluster c: it is joined afresh on an empty volume, if its ordinal belongs"},
		{"silent, the ledger is about another member", Facts{Disk: disk, Live: silent, Ledger: []Removal{{MemberID: 0xb, ClusterID: ours, Confirmed: true}, {MemberID: me, ClusterID: 0xd, Confirmed: true}}}, AskTombstone, nil, ByDisk, "the cluster does not answer: connection refused"},
		//
		{"silent, a tombstone", Facts{Disk: disk, Live: silent, Tombstone: says(Yes, "")}, Refuse, ErrMemberPermanentlyRemoved, ByTombstone,
			"the member was removed from the cluster for good: member a of cluster c has its own tombstone: it is joined afresh on an empty volume, if its ordinal belongs"},
		{"silent, no tombstone", Facts{Disk: disk, Live: silent, Tombstone: says(No, "")}, AskLog, nil, ByDisk, "the cluster does not answer: connection refused"},
		{"silent, the bolt file unreadable, removed by the log", Facts{Disk: disk, Live: silent, Tombstone: says(Unreadable, "timeout"), Logged: says(Yes, "entry 7, committed 7")}, Refuse, ErrMemberPermanentlyRemoved, ByLog,
			"the member was removed from the cluster for good: member a of cluster c has its own removal in its log (entry 7, committed 7): it is joined afresh on an empty volume, if its ordinal belongs"},
		//
		{"silent, the bolt file unreadable", Facts{Disk: disk, Live: silent, Tombstone: says(Unreadable, "timeout"), Logged: says(No, "")}, Refuse, ErrMembershipCheckFailed, ByTombstone,
			"whether the member was removed cannot be told: the cluster does not answer (connection refused) and the tombstones cannot be read (timeout): heal the cluster, replace this member's volume, or, if you know that member a was never removed, put it on the list accept of the configuration"},
		{"silent, the log unreadable", Facts{Disk: disk, Live: silent, Tombstone: says(No, ""), Logged: says(Unreadable, "checksum")}, Refuse, ErrMembershipCheckFailed, ByLog,
			"whether the member was removed cannot be told: the cluster does not answer (connection refused) and the log cannot be read (checksum): heal the cluster, replace this member's volume, or, if you know that member a was never removed, put it on the list accept of the configuration"},
		{"silent, power failure after an intended removal", Facts{Disk: disk, Live: silent, Ledger: intended, Tombstone: says(No, "no bolt file"), Logged: says(No, "")}, Start, nil, ByDisk,
			"the cluster does not answer (connection refused), and nothing says that member a was removed: ledger no (intended, not confirmed), tombstone no (no bolt file), log no"},
		{"silent, the WAL damaged", Facts{Disk: broken, Live: silent}, Refuse, ErrMembershipCheckFailed, ByDisk,
			"whether the member was removed cannot be told: the IDs in the WAL cannot be read (not a WAL) and the cluster does not answer (connection refused): heal the cluster, or replace this member's volume"},

		{"empty, beyond the replicas", Facts{Self: changed(self(), func(s *Self) { s.Ordinal = 3 }), Disk: empty, Live: listing(another())}, Refuse, ErrBeyondReplicas, ByConfiguration,
			"the ordinal is beyond the replicas: ordinal 3 has no place in 3 replicas, and its disk is empty: it is deleted by the controller"},
		{"empty, beyond the replicas, silent", Facts{Self: changed(self(), func(s *Self) { s.Ordinal = 3 }), Disk: empty, Live: silent}, Refuse, ErrBeyondReplicas, ByConfiguration,
			"the ordinal is beyond the replicas: ordinal 3 has no place in 3 replicas, and its disk is empty: it is deleted by the controller"},
		{"empty, another cluster answers", Facts{Disk: empty, Live: Live{Answered: true, ClusterID: 0xd, Endpoint: "https://x.example.com:2379"}}, Refuse, ErrOtherCluster, ByConfiguration,
			"another cluster than this member's: cluster d answers at https://x.example.com:2379 and this member belongs to c: see what serves there"},
		{"empty, listed and started", Facts{Disk: empty, Live: listing(mine(), another())}, Refuse, ErrDiskLost, ByList,
			"the member's disk is lost: member a (main-0) has run with the peer URLs [https://main-0.example.com:2380] and this disk has no WAL: it must be removed and joined afresh"},
		{"empty, a late founder, the database not asked", Facts{Disk: empty, Live: listing(unstarted, another())}, AskApplied, nil, ByList, "member a of cluster c is a founder that never started"},
		{"empty, a late founder", Facts{Disk: empty, Live: listing(unstarted, another()), Applied: says(No, "")}, StartAsFounder, nil, ByList, "member a of cluster c is a founder that never started"},
		{"empty, a late founder that has run", Facts{Disk: empty, Live: listing(unstarted, another()), Applied: says(Yes, "entries were applied")}, Refuse, ErrDiskLost, ByDisk,
			"the member's disk is lost: the disk has a database (yes (entries were applied)) and no WAL, so this founder has run: it must be removed and joined afresh, or the cluster restored from a backup"},
		{"empty, an unstarted learner", Facts{Disk: empty, Live: listing(nameless, another())}, StartAsListed, nil, ByList,
			"member a of cluster c was added with the peer URLs [https://main-0.example.com:2380] and never started"},
		{"empty, not listed", Facts{Disk: empty, Live: listing(another())}, Join, nil, ByList, "cluster c has no member with the peer URLs [https://main-0.example.com:2380]"},
		{"empty, not listed, of a source", Facts{Self: changed(self(), func(s *Self) { s.ClusterID, s.Source = 0, true }), Disk: empty, Live: listing(another())}, Join, nil, ByList,
			"cluster c has no member with the peer URLs [https://main-0.example.com:2380]"},
		{"empty, not listed, no cluster recorded", Facts{Self: changed(self(), func(s *Self) { s.ClusterID = 0 }), Disk: empty, Live: listing(another())}, Wait, nil, ByConfiguration,
			"cluster c answers, and the configuration has no cluster ID yet: wait until the controller has recorded it; if it never does, see its log"},
		{"empty, silent, a cluster recorded", Facts{Disk: empty, Live: silent}, Wait, nil, ByConfiguration, "this disk is empty and cluster c does not answer (connection refused): heal its members; if all their disks are lost, restore it from a backup"},
		{"empty, silent, of a source", Facts{Self: changed(self(), func(s *Self) { s.ClusterID, s.Source = 0, true }), Disk: empty, Live: silent}, Wait, nil, ByConfiguration,
			"this disk is empty and the cluster to join does not answer (connection refused): wait until it does"},
		//
		{"empty, silent, a founder", Facts{Self: changed(self(), func(s *Self) { s.ClusterID = 0 }), Disk: empty, Live: silent, Applied: says(No, "")}, StartAsFounder, nil, ByConfiguration,
			"the cluster has never formed, and this member is one of its founders"},
		{"empty, silent, a founder whose database cannot be read", Facts{Self: changed(self(), func(s *Self) { s.ClusterID = 0 }), Disk: empty, Live: silent, Applied: says(Unreadable, "timeout")}, Refuse, ErrDiskLost, ByDisk,
			"the member's disk is lost: the disk has no WAL, and whether it has a database with data cannot be told (timeout), so this founder may have run: mend that, or remove it and join it afresh, or restore the cluster from a backup"},
		{"empty, silent, no founder", Facts{Self: changed(self(), func(s *Self) { s.ClusterID, s.Founder = 0, false }), Disk: empty, Live: silent}, Wait, nil, ByConfiguration,
			"the cluster has never formed, and this member is none of its founders: wait for them (connection refused)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.facts.Self.Name == "" {
				c.facts.Self = self()
			}
			v := Judge(c.facts)
			if passes := strings.Contains(v.Reason, "does not answer") && v.Err != nil || c.by == ByConfiguration && c.facts.Disk.State == NoWAL && v.Err != nil || c.facts.Live.Denied; v.MayPass != passes {
				t.Errorf("it may pass: %t", v.MayPass)
			}
			if v.Action != c.action || !errors.Is(v.Err, c.err) || v.By != c.by || v.Reason != c.reason {
				t.Errorf("got  %s, %v, by %s\n     %s\nwant %s, %v, by %s\n     %s", v.Action, v.Err, v.By, v.Reason, c.action, c.err, c.by, c.reason)
			}
		})
	}
}
