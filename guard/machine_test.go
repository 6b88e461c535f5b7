package guard

import (
	"slices"
	"testing"
)

// A member is a machine's by its record, by its place, and by its name alone where
// nothing else tells.
func TestMembersOf(t *testing.T) {
	member := func(id uint64, name, host string) Member {
		return Member{ID: id, Name: name, PeerURLs: []string{"https://" + host + ":2380"}}
	}
	a, b := member(1, "cp-1", "192.0.2.1"), member(2, "cp-2", "192.0.2.2")
	self := Machine{Name: "cp-1", MemberID: 1, Hosts: []string{"192.0.2.1"}, Hostnames: []string{"cp-1.example.com"}}
	for name, c := range map[string]struct {
		members []Member
		self    Machine
		others  []Machine
		want    []uint64
	}{
		"by the record":  {[]Member{b, member(1, "cp-1", "192.0.2.99")}, self, nil, []uint64{1}},
		"by the address": {[]Member{a, b}, Machine{Hosts: []string{"192.0.2.1"}}, nil, []uint64{1}},
		"one that was never started, by the address": {[]Member{member(7, "", "192.0.2.1"), b}, Machine{Hosts: []string{"192.0.2.1"}}, nil, []uint64{7}},
		"by a recorded peer URL":                     {[]Member{a, b}, Machine{PeerURLs: []string{"https://192.0.2.1:2380"}}, nil, []uint64{1}},
		"joined again with another ID":               {[]Member{member(9, "cp-1", "192.0.2.1"), b}, self, nil, []uint64{9}},
		"both the old and the new one":               {[]Member{a, member(9, "cp-1", "192.0.2.1")}, self, nil, []uint64{1, 9}},
		"by a short name":                            {[]Member{member(5, "cp-1", "198.51.100.1"), b}, Machine{Hostnames: []string{"CP-1.example.com"}}, nil, []uint64{5}},
		"two of one name":                            {[]Member{member(5, "cp-1", "198.51.100.1"), member(6, "cp-1", "198.51.100.2")}, Machine{Hostnames: []string{"cp-1"}}, nil, nil},
		"another machine is called so too":           {[]Member{member(5, "cp-1", "198.51.100.1")}, Machine{Hostnames: []string{"cp-1"}}, []Machine{{Hostnames: []string{"cp-1.example.org"}}}, nil},
		"a name that begins alike":                   {[]Member{member(5, "cp-10", "198.51.100.1")}, Machine{Hostnames: []string{"cp-1"}}, nil, nil},
		"the name of another machine's member":       {[]Member{member(5, "cp-1", "198.51.100.1")}, Machine{Hostnames: []string{"cp-1"}}, []Machine{{MemberID: 5}}, nil},
		"a replacement at the same address":          {[]Member{member(9, "cp-1", "192.0.2.1"), b}, self, []Machine{{Name: "new", MemberID: 9, Hosts: []string{"192.0.2.1"}}}, nil},
		"a replacement that is not recorded yet":     {[]Member{member(9, "cp-1", "192.0.2.1")}, self, []Machine{{Name: "new", Hosts: []string{"192.0.2.1"}}}, nil},
		"its own record goes before a replacement":   {[]Member{a, b}, self, []Machine{{Name: "new", Hosts: []string{"192.0.2.1"}}}, []uint64{1}},
		"a member without a name and nothing known":  {[]Member{member(7, "", "192.0.2.7")}, Machine{}, nil, nil},
		"an address is no short name":                {[]Member{member(7, "192", "198.51.100.7")}, Machine{Hostnames: []string{"192.0.2.1"}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []uint64
			for _, m := range MembersOf(c.members, c.self, c.others) {
				got = append(got, m.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
