package disks

import (
	"fmt"
	"slices"

	"github.com/quorate/quorate/guard/rejoin"
)

func rows() []row {
	return slices.Concat(removedRows(), timingRows(), damagedRows(), memberRows(), emptyRows(), foreignRows(), restoredRows())
}

// removed is a refusal for good.
func removed(by rejoin.By, says ...string) want {
	return want{rejoin.Refuse, rejoin.ErrMemberPermanentlyRemoved, by, append(says, "member {id} ", "cluster {cluster}", "joined afresh on an empty volume")}
}

// absent is the same by the list, with what the tombstone says.
func absent(says ...string) want {
	return removed(rejoin.ByList, append(says, "is not in the list", "removed by the ledger: ")...)
}

func unsure(by rejoin.By, says ...string) want {
	return want{rejoin.Refuse, rejoin.ErrMembershipCheckFailed, by, says}
}

func starts(by rejoin.By, says ...string) want { return want{rejoin.Start, nil, by, says} }

// doubted starts since nothing says that the member was removed.
func doubted(says ...string) want {
	return starts(rejoin.ByDisk, append(says, "the cluster does not answer (nobody listens)", "nothing says that member {id} was removed")...)
}

//
func removedRows() []row {
	const end = "the survivors"
	return []row{
		{name: "removed while healthy, listed no more", disk: "removed while healthy", list: end, want: absent("by the ledger: no", "by the log: not asked")},
		{name: "removed while healthy, all witnesses agree", disk: "buried", list: end, ledger: confirmed,
			want: absent("by the ledger: yes (confirmed)", "by the tombstone: yes (among ")},
		{name: "removed while healthy, nobody answers", disk: "buried", want: removed(rejoin.ByTombstone, "has its own tombstone")},
		{name: "removed while healthy, nobody answers, intended", disk: "buried", ledger: intended, want: removed(rejoin.ByTombstone, "has its own tombstone")},
		{name: "removed while healthy, nobody answers, confirmed", disk: "removed while healthy", ledger: confirmed,
			want: removed(rejoin.ByLedger, "the ledger has the confirmed removal")},
		{name: "removed while healthy, another cluster answers in its place", disk: "buried", list: "the other cluster",
			want: removed(rejoin.ByTombstone, "has its own tombstone")},
		{name: "removed while down, listed no more", disk: "removed while down", list: end, want: absent("by the tombstone: no (not among ")},
		{name: "removed while down, nobody answers", disk: "removed while down", want: doubted("tombstone no (not among ", "log no (")},
		{name: "removed while down, nobody answers, intended", disk: "removed while down", ledger: intended, want: doubted("ledger no (intended, not confirmed)")},
		{name: "removed while down, nobody answers, confirmed", disk: "removed while down", ledger: confirmed, want: removed(rejoin.ByLedger)},
		{name: "removed while down and started again, listed no more", disk: "removed while down, and started again", list: end,
			want: absent("by the tombstone: no (not among ")},
		{name: "removed while down and started again, confirmed", disk: "removed while down, and started again", ledger: confirmed, want: removed(rejoin.ByLedger)},
		{name: "removed leader, listed no more", disk: "removed leader", list: end, want: absent()},
		{name: "removed leader, nobody answers, confirmed", disk: "removed leader", ledger: confirmed, want: removed(rejoin.ByLedger)},
		{name: "removed learner whose ID begins with a zero, listed no more", disk: "a removed learner's", list: end, want: absent("by the tombstone: yes (among ")},
		{name: "removed learner whose ID begins with a zero, nobody answers", disk: "a removed learner's", want: removed(rejoin.ByTombstone)},
		{name: "removed behind purged segments, listed no more", disk: "removed, with purged segments", list: "after the purged one was removed", want: absent()},
		{name: "removed behind purged segments, confirmed", disk: "removed, with purged segments", ledger: confirmed, want: removed(rejoin.ByLedger)},
		{name: "only the ledger of others speaks", disk: "removed while down", ledger: ofOthers, want: doubted("ledger no,")},
	}
}

// timingRows are of removals whose traces depend on the instant: a witness may lack,
// and none may be unreadable.
func timingRows() []row {
	var out []row
	silent := func(name, disk string) row {
		return row{name: name, disk: disk, want: removed(rejoin.ByTombstone),
			or: []want{removed(rejoin.ByLog, "own removal in its log (entry "), doubted("tombstone no (", "log no (")}}
	}
	for i := range 4 {
		disk := fmt.Sprintf("killed at its removal, %d", i+1)
		out = append(out,
			row{name: disk + ", listed no more", disk: disk, list: "the survivors", want: absent()},
			row{name: disk + ", confirmed", disk: disk, ledger: confirmed, want: removed(rejoin.ByLedger)},
			silent(disk+", nobody answers", disk))
	}
	return append(out,
		silent("removed leader, nobody answers", "removed leader"),
		silent("removed behind purged segments, nobody answers", "removed, with purged segments"),
		silent("removed while down and started again, nobody answers", "removed while down, and started again"))
}

// memberRows are of members that belong: nothing on their disks holds them up.
func memberRows() []row {
	const end = "the survivors"
	return []row{
		{name: "a member among tombstones of others", disk: "a member's", list: end, want: starts(rejoin.ByList, "member {id} is in the list of cluster {cluster}")},
		{name: "a member among tombstones of others, nobody answers", disk: "a member's", want: doubted("tombstone no (not among ", "log no (")},
		{name: "the list is more than the ledger", disk: "a member's", list: end, ledger: confirmed, want: starts(rejoin.ByList)},
		{name: "bolt file locked by a running etcd, listed", disk: "a running member's", list: end, want: starts(rejoin.ByList)},
		{name: "bolt file locked by a running etcd, nobody answers", disk: "a running member's",
			want: unsure(rejoin.ByTombstone, "the tombstones cannot be read (open ", "timeout")},
		{name: "with purged segments, listed", disk: "with purged segments", list: "before the purged one was removed", want: starts(rejoin.ByList)},
		{name: "with purged segments, nobody answers", disk: "with purged segments", want: doubted("tombstone no (not among 0 ", "log no (no removal from 000000000000000")},
		{name: "a removal that was never committed, listed", disk: "removed by nobody but its own log", list: "a removal was not committed", want: starts(rejoin.ByList)},
		{name: "a removal that was never committed, nobody answers", disk: "removed by nobody but its own log", ledger: intended,
			want: doubted("ledger no (intended, not confirmed)", "removes it and is not committed")},
		{name: "a learner that was killed at its birth, listed", disk: "a newborn learner's", list: "a newborn learner", want: starts(rejoin.ByList)},
		{name: "a learner that was killed at its birth, nobody answers", disk: "a newborn learner's", want: doubted("tombstone no (", "log no (")},
		{name: "a learner that was killed at its birth, listed no more", disk: "a newborn learner's", list: end, want: absent("by the tombstone: no (")},
		{name: "a learner that was not promoted, listed", disk: "a learner's", list: "a learner", want: starts(rejoin.ByList)},
		{name: "a learner that was not promoted, nobody answers", disk: "a learner's", want: doubted()},
	}
}
