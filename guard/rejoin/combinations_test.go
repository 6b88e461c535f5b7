package rejoin

import "iter"

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
