package disks

import "github.com/quorate/quorate/guard/rejoin"

//
func damagedRows() []row {
	const end = "the survivors"
	listed := starts(rejoin.ByList, "member {id} is in the list of cluster {cluster}")
	return []row{
		{name: "torn tail of a listed member", disk: "a member's", damage: cutTail, list: end, want: listed},
		{name: "torn tail, nobody answers", disk: "a member's", damage: cutTail, want: doubted("log no (")},
		{name: "zeroed tail of a listed member", disk: "a member's", damage: zeroTail, list: end, want: listed},
		{name: "zeroed tail, nobody answers", disk: "a member's", damage: zeroTail, want: doubted("log no (")},
		{name: "torn tail of a removed member", disk: "buried", damage: cutTail, list: end, want: absent()},
		{name: "torn tail of a removed member, nobody answers", disk: "buried", damage: zeroTail, want: removed(rejoin.ByTombstone)},
		{name: "a hole in the log of a listed member", disk: "a member's", damage: zeroMiddle, list: end, want: listed},
		{name: "a hole in the log, nobody answers", disk: "a member's", damage: zeroMiddle, want: unsure(rejoin.ByLog, "the log cannot be read (", "data after a blank")},
		{name: "a hole in the log of a removed member, nobody answers", disk: "buried", damage: zeroMiddle, want: removed(rejoin.ByTombstone)},
		{name: "no IDs in the log of a listed member", disk: "a member's", damage: zeroHeaders, list: end,
			want: starts(rejoin.ByList, "its WAL is damaged (", "the controller replaces the member")},
		{name: "no IDs in the log, nobody answers", disk: "a member's", damage: zeroHeaders, want: unsure(rejoin.ByDisk, "the IDs in the WAL cannot be read (")},
		{name: "no IDs in the log of a removed member", disk: "removed while healthy", damage: zeroHeaders, list: end,
			want: unsure(rejoin.ByDisk, "the IDs in the WAL cannot be read (", "has no member etcd-4")},
		{name: "no bolt file of a listed member", disk: "a member's", damage: without("snap", "db"), list: end, want: listed},
		{name: "no bolt file, nobody answers", disk: "a member's", damage: without("snap", "db"), want: doubted("tombstone no (no bolt file)", "log no (")},
		{name: "no bolt file of a removed member", disk: "buried", damage: without("snap", "db"), list: end, want: absent("by the tombstone: no (no bolt file)")},
		{name: "no bolt file of a removed member, nobody answers", disk: "buried", damage: without("snap", "db"),
			want: removed(rejoin.ByLog, "own removal in its log (entry ")},
		{name: "no snapshot folder, nobody answers", disk: "buried", damage: without("snap"), want: removed(rejoin.ByLog)},
		{name: "cut bolt file of a listed member", disk: "a member's", damage: cutBolt, list: end, want: listed},
		{name: "cut bolt file, nobody answers", disk: "a member's", damage: cutBolt, want: unsure(rejoin.ByTombstone, "the tombstones cannot be read (")},
		{name: "cut bolt file of a removed member", disk: "buried", damage: cutBolt, list: end, want: absent("by the tombstone: cannot be read (")},
		{name: "cut bolt file of a removed member, nobody answers", disk: "buried", damage: cutBolt, want: removed(rejoin.ByLog)},
		{name: "zeroed bolt file of a listed member", disk: "a member's", damage: zeroBolt, list: end, want: listed},
		{name: "zeroed bolt file, nobody answers", disk: "a member's", damage: zeroBolt, want: unsure(rejoin.ByTombstone, "the tombstones cannot be read (")},
		{name: "all of a listed member is damaged", disk: "a member's", damage: both(zeroHeaders, zeroBolt), list: end, ledger: confirmed, want: starts(rejoin.ByList)},
	}
}

//
func emptyRows() []row {
	const end = "the survivors"
	beyond := func(s *rejoin.Self) { s.Replicas = s.Ordinal }
	joins := want{rejoin.Join, nil, rejoin.ByList, []string{"cluster {cluster} has no member with the peer URLs"}}
	waits := want{rejoin.Wait, nil, rejoin.ByConfiguration, []string{"this disk is empty and cluster {cluster} does not answer (nobody listens)"}}
	surplus := want{rejoin.Refuse, rejoin.ErrBeyondReplicas, rejoin.ByConfiguration, []string{"has no place in", "deleted by the controller"}}
	lost := want{rejoin.Refuse, rejoin.ErrDiskLost, rejoin.ByList, []string{"member {id} ", "this disk has no WAL", "removed and joined afresh"}}
	return []row{
		{name: "wiped disk of a removed member that belongs again", disk: "removed while healthy", damage: wiped, list: end, want: joins},
		{name: "wiped disk of a removed member that belongs again, nobody answers", disk: "removed while healthy", damage: wiped, ledger: confirmed, want: waits},
		{name: "wiped disk of a removed member beyond the replicas", disk: "removed while healthy", damage: wiped, list: end, self: beyond, want: surplus},
		{name: "wiped disk of a removed member beyond the replicas, nobody answers", disk: "removed while healthy", damage: wiped, self: beyond, want: surplus},
		{name: "no WAL of a removed member", disk: "removed while healthy", damage: without("wal"), list: end, want: joins},
		{name: "no WAL of a removed member, nobody answers", disk: "buried", damage: without("wal"), want: waits},
		{name: "no WAL of a removed member beyond the replicas", disk: "buried", damage: without("wal"), list: end, self: beyond, want: surplus},
		{name: "no WAL of a listed member", disk: "a member's", damage: without("wal"), list: end, want: lost},
		{name: "wiped disk of a listed member", disk: "a member's", damage: wiped, list: end, want: lost},
		{name: "no WAL of a listed member, nobody answers", disk: "a member's", damage: without("wal"), want: waits},
		{name: "a founder that never started", disk: "a founder's that never started", list: "a founder has not started", self: founder,
			want: want{rejoin.StartAsFounder, nil, rejoin.ByList, []string{"member {id} of cluster {cluster} is a founder that never started"}}},
		{name: "a founder that never started, nobody answers", disk: "a founder's that never started", self: founder, want: waits},
		{name: "a founder before there was a cluster", disk: "a founder's that never started",
			self: func(s *rejoin.Self) { founder(s); s.ClusterID = 0 },
			want: want{rejoin.StartAsFounder, nil, rejoin.ByConfiguration, []string{"never formed"}}},
		{name: "an added member that never started", disk: "an added member's that never started", list: "a learner was added",
			want: want{rejoin.StartAsListed, nil, rejoin.ByList, []string{"member {id} of cluster {cluster} was added", "never started"}}},
		{name: "an added member that was given up before it started", disk: "an added member's that never started", list: end, want: joins},
	}
}

func founder(s *rejoin.Self) { s.Founder = true }
