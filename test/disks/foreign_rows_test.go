package disks

import "github.com/quorate/quorate/guard/rejoin"

// foreignRows are of disks that are not this member's.
func foreignRows() []row {
	const end = "the survivors"
	belongs := func(e rejoin.ID) func(*rejoin.Self) { return func(s *rejoin.Self) { s.ClusterID = e } }
	other := func(by rejoin.By, says ...string) want {
		return want{rejoin.Refuse, rejoin.ErrOtherCluster, by, append(says, "the disk is of cluster {cluster}", "a volume of its own, or an empty one")}
	}
	renamed := func(s *rejoin.Self) { s.Name, s.PeerURLs = "etcd-9", []string{"http://etcd-9.example.com:2380"} }
	return []row{
		{name: "another cluster's disk", disk: "another cluster's", list: end, self: belongs(0), want: other(rejoin.ByList, "the cluster that answers is ")},
		{name: "another cluster's disk, nobody answers", disk: "another cluster's", self: belongs(42), want: other(rejoin.ByConfiguration, "this member belongs to 2a")},
		{name: "another cluster's disk, confirmed there", disk: "another cluster's", list: end, self: belongs(0), ledger: confirmed, want: other(rejoin.ByList)},
		{name: "recreated under the same names with a new token", disk: "another cluster's", list: "recreated", self: belongs(0), want: other(rejoin.ByList)},
		// The IDs are the same then, and nothing tells the disks apart: the token is the
		// UID of the Etcd for this.
		{name: "recreated under the same names with the same token", disk: "another cluster's", list: "recreated with the same token", want: starts(rejoin.ByList)},
		{name: "a copy of a live member's disk", disk: "a copy of a live member's", list: end, self: renamed,
			want: want{rejoin.Refuse, rejoin.ErrCopiedVolume, rejoin.ByList, []string{"member {id} on the disk is etcd-", "and this is etcd-9", "a volume of its own"}}},
		{name: "a copy of a live member's disk, mounted by its own name", disk: "a copy of a live member's", list: end, want: starts(rejoin.ByList)},
		{name: "a copy of a removed member's disk", disk: "removed while healthy", list: end, self: renamed, want: absent()},
	}
}

// restoredRows are of disks that etcdutl made: they have no tombstones.
func restoredRows() []row {
	const founder = "a removed founder's, restored from a snapshot"
	return []row{
		{name: "restored from a snapshot", disk: "restored from a snapshot", list: "restored", want: starts(rejoin.ByList)},
		{name: "restored from a snapshot, nobody answers", disk: "restored from a snapshot", want: doubted("tombstone no (")},
		{name: "restored once more", disk: "restored from a snapshot once more", list: "restored", want: starts(rejoin.ByList)},
		{name: "restored, with the ledger of the time before", disk: "restored from a snapshot", list: "restored", ledger: confirmed, want: starts(rejoin.ByList)},
		{name: "a removed founder's, restored beside the cluster", disk: founder, list: "the survivors", want: absent("by the tombstone: no (")},
		{name: "a removed founder's, restored, nobody answers", disk: founder, want: doubted("tombstone no (")},
		{name: "a removed founder's, restored, with the ledger of the time before", disk: founder, ledger: confirmed, want: removed(rejoin.ByLedger)},
	}
}
