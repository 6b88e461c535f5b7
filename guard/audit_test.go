package guard

import (
	"fmt"
	"testing"
)

// cp is the member of a control plane: its ID, its name, and the last part of its
// address.
func cp(id uint64, name string, host int) Member {
	return Member{ID: id, Name: name, PeerURLs: []string{fmt.Sprintf("https://192.0.2.%d:2380", host)}, Started: name != "", Healthy: name != ""}
}

func names(a Audit) (out string) {
	for _, m := range a.Unknown {
		out += m.Label() + " "
	}
	out += "|"
	for _, m := range a.Without {
		out += " " + m.Name
	}
	return out
}

func TestAudit(t *testing.T) {
	three := []Member{cp(1, "cp-1", 1), cp(2, "cp-2", 2), cp(3, "cp-3", 3)}
	at := func(name string, host int) Machine {
		return Machine{Name: name, Hosts: []string{fmt.Sprintf("192.0.2.%d", host)}}
	}
	called := func(name string, hostnames ...string) Machine { return Machine{Name: name, Hostnames: hostnames} }
	cases := []struct {
		name     string
		members  []Member
		machines []Machine
		want     string
	}{
		{"by their addresses", three, []Machine{at("a", 1), at("b", 2), at("c", 3)}, "|"},
		{"by their IDs, wherever they are", three, []Machine{{Name: "a", MemberID: 1}, {Name: "b", MemberID: 2, Hosts: []string{"192.0.2.9"}}, at("c", 3)}, "|"},
		{"by a recorded place", three, []Machine{at("a", 1), at("b", 2), {Name: "c", MemberID: 9, PeerURLs: []string{"https://192.0.2.3:2380"}}}, "|"},
		{"by their names, short or whole", three, []Machine{called("a", "cp-1"), called("b", "CP-2.example.com"), called("c", "node-3", "cp-3.example.org")}, "|"},
		{"one is nobody's", three, []Machine{at("a", 1), at("b", 2)}, "cp-3 |"},
		{"all are nobody's", three, nil, "cp-1 cp-2 cp-3 |"},
		{"a machine without member", three[:2], []Machine{at("a", 1), at("b", 2), at("c", 3)}, "| c"},
		{"neither list", nil, []Machine{at("a", 1)}, "| a"},
		{"another's name is not taken", three, []Machine{at("a", 1), at("b", 2), called("c", "cp-2")}, "cp-3 | c"},
		{"two of that name are listed", []Member{cp(1, "cp-1", 1), cp(2, "cp-1", 2)}, []Machine{called("a", "cp-1")}, "cp-1 cp-1 | a"},
		{"two machines are called so", three[:1], []Machine{called("a", "cp-1"), called("b", "cp-1.example.com")}, "cp-1 | a b"},
		{"at its place one is at home, and not of its name too", []Member{cp(1, "cp-1", 1), cp(8, "node", 8)}, []Machine{{Name: "a", Hosts: []string{"192.0.2.1"}, Hostnames: []string{"node"}}}, "node |"},
		{"a replacement at the address of one that leaves", []Member{cp(1, "cp-1", 1), cp(9, "cp-9", 2)}, []Machine{at("a", 1), {Name: "b", MemberID: 2, Hosts: []string{"192.0.2.2"}}, at("b-2", 2)}, "|"},
		{"rejoined before its machine is gone", []Member{cp(9, "cp-2", 2)}, []Machine{{Name: "b", MemberID: 2, PeerURLs: []string{"https://192.0.2.2:2380"}}}, "|"},
		{"unstarted at a machine", []Member{cp(4, "", 4)}, []Machine{at("d", 4)}, "|"},
		{"unstarted nowhere", []Member{cp(4, "", 4)}, []Machine{called("d", "")}, "https://192.0.2.4:2380 | d"},
		{"IPv6", []Member{{ID: 1, PeerURLs: []string{"https://[2001:db8::1]:2380"}}}, []Machine{{Name: "a", Hosts: []string{"2001:db8::1"}}}, "|"},
		{"no ID is no claim", []Member{{ID: 0, Name: "x"}}, []Machine{{Name: "a"}}, "x | a"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := names(AuditOf(c.members, c.machines)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}
