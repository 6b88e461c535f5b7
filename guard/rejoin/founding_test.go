package rejoin

import "testing"

// IDs that real servers gave to clusters of one. Those of clusters of several are
// compared with running members under test/.
func TestFoundingOf(t *testing.T) {
	for _, c := range []struct {
		token, peerURL  string
		member, cluster ID
	}{
		{"etcd-cluster", "http://localhost:2380", 0x8e9e05c52164694d, 0xcdf818194e3a8c32}, // etcd's defaults
		{"tok", "http://127.0.0.1:2080", 0xd6245b07d177f41d, 0x5d972824f0dbc15b},
	} {
		f := FoundingOf(c.token, []Founder{{"main-0", []string{c.peerURL}}})
		if f.ClusterID != c.cluster || f.Members[c.member] != "main-0" {
			t.Errorf("%s, %s: cluster %s, members %v", c.token, c.peerURL, f.ClusterID, f.Members)
		}
	}
	a, b := Founder{"a", []string{"http://a.example.com:1", "http://b.example.com:1"}}, Founder{"b", []string{"http://c.example.com:1"}}
	turned := Founder{"a", []string{a.PeerURLs[1], a.PeerURLs[0]}}
	if FoundingOf("t", []Founder{a, b}).ClusterID != FoundingOf("t", []Founder{b, turned}).ClusterID {
		t.Error("the order of founders or URLs counts")
	}
	if FoundingOf("t", []Founder{a, b}).ClusterID == FoundingOf("u", []Founder{a, b}).ClusterID {
		t.Error("the token does not count")
	}
	if none := FoundingOf("t", nil); none.ClusterID != 0 || none.Members != nil {
		t.Errorf("without founders: %+v", none)
	}
}
