package rejoin

import (
	"iter"
	"strings"
	"testing"
)

// Over every combination of what can be seen: a member that the list lacks or that
// a witness calls removed is never let in, one that is listed under its own name is
// never held up, an unreadable witness is never taken for a no, no cluster is
// formed beside one that has existed, and each verdict has its one-line reason.
func TestJudgeKeepsItsPromises(t *testing.T) {
	count := 0
	for f := range everything() {
		count++
		v := Judge(f)
		lets := v.Action == Start || v.Action == StartAsFounder || v.Action == StartAsListed || v.Action == Join
		own, listed := f.Live.ByID(f.Disk.MemberID)
		known := f.Disk.State == HasWAL
		ofOurs := f.Live.Answered && f.Live.ClusterID == f.Disk.ClusterID
		promise := func(broken bool, what string) {
			if broken {
				t.Errorf("%s: %+v\n%+v", what, f, v)
			}
		}
		promise(known && ofOurs && !listed && lets, "an absent member is let in")
		promise(known && ofOurs && !f.foreign(f.Disk.ClusterID) && listed && own.Name == f.Self.Name && v.Action != Start, "a listed member is held up")
		promise(known && !f.Live.Answered && lets && (f.LedgerSays().Answer == Yes || !testified(f.Tombstone, f) || !testified(f.Logged, f)), "a member is let in against a witness or without one")
		promise(v.Action == StartAsFounder && f.Applied.Answer != No, "a founder that may have run is started over")
		promise(known && lets && f.Self.cluster() != 0 && f.Self.cluster() != f.Disk.ClusterID, "another cluster's disk is let in")
		promise(known && !f.Live.Answered && lets && f.ofAnother() != "", "another member's disk is let in")
		promise(f.Live.Denied && lets, "a member is let in that may not ask")
		promise(v.Action == StartAsFounder && f.Self.ClusterID != 0 && !f.Live.Answered, "a second cluster is formed")
		promise(f.Disk.State == UnreadableWAL && lets && !f.Live.Answered, "an unreadable WAL is let in")
		promise(f.Disk.State != NoWAL && (v.Action == Join || v.Action == StartAsListed || v.Action == StartAsFounder), "a WAL is started over")
		promise(f.Self.Ordinal >= f.Self.Replicas && f.Disk.State == NoWAL && v.Action != Refuse, "an ordinal that does not belong is let in")
		promise((v.Err != nil) != (v.Action == Refuse), "error and refusal differ")
		promise(v.Reason == "" || strings.Contains(v.Reason, "\n") || v.By == "", "no reason of one line")
	}
	if count < 50_000 {
		t.Errorf("only %d combinations", count)
	}
}

// testified tells whether the witness lets the member in: it says no, or it cannot
// be read and a person vouches for the member.
func testified(w Witness, f Facts) bool {
	return w.Answer == No || w.Answer == Unreadable && f.Self.Accepted
}

// everything is every combination of facts that a verdict can tell apart.
func everything() iter.Seq[Facts] {
	unstarted := changed(mine(), func(m *Member) { m.ClientURLs = nil })
	nameless := changed(unstarted, func(m *Member) { m.Name, m.Learner = "", true })
	readded := changed(mine(), func(m *Member) { m.ID = 0xe })
	lives := []Live{silent, {Denied: true, Why: "denied"}, listing(), listing(mine()), listing(another()), listing(unstarted), listing(nameless), listing(readded), {Answered: true, ClusterID: 0xd, Members: []Member{mine()}}}
	disks := []Disk{empty, disk, broken, changed(disk, func(d *Disk) { d.Name = "main-1" }), changed(disk, func(d *Disk) { d.ClusterID = 0xd }), changed(disk, func(d *Disk) { d.MemberID = 0xb })}
	answers := []Answer{NotAsked, No, Yes, Unreadable}
	return func(yield func(Facts) bool) {
		for s := range selves() {
			for _, f := range product(lives, disks, answers) {
				f.Self = s
				if !yield(f) {
					return
				}
			}
		}
	}
}

func selves() iter.Seq[Self] {
	return func(yield func(Self) bool) {
		for bits := range 64 {
			s := self()
			if bits&1 != 0 {
				s.Ordinal = s.Replicas
			}
			s.Founder, s.Source = bits&2 != 0, bits&4 != 0
			if bits&8 != 0 {
				s.ClusterID = 0
			}
			if bits&16 != 0 {
				s.Founding = Founding{ClusterID: ours, Members: map[ID]string{me: s.Name, 0xb: "main-1"}}
			}
			s.Accepted = bits&32 != 0
			if !yield(s) {
				return
			}
		}
	}
}

func product(lives []Live, disks []Disk, answers []Answer) (out []Facts) {
	for _, l := range lives {
		for _, d := range disks {
			for _, ledger := range [][]Removal{nil, intended, confirmed} {
				for _, tombstone := range answers {
					for _, logged := range answers {
						// An empty disk is asked for its database instead.
						f := Facts{Disk: d, Live: l, Ledger: ledger, Tombstone: says(tombstone, ""), Logged: says(logged, ""), Applied: says(tombstone, "")}
						out = append(out, f)
					}
				}
			}
		}
	}
	return out
}
