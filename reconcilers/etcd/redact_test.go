package etcd

import "testing"

//
func TestWithoutIDs(t *testing.T) {
	for text, want := range map[string]string{
		"ErrDiskLost: member f4b9663ecbbc19a4 (main-0) has run":                       "ErrDiskLost: a member (main-0) has run",
		"not in the list of cluster 5d972824f0dbc15b":                                 "not in the list of cluster (an ID)",
		"main-0 at http://main-0.main-peer.plant.svc:2380":                            "main-0 at http://main-0.main-peer.plant.svc:2380",
		"/var/lib/etcd/data/member/snap/db: deadbeef":                                 "/var/lib/etcd/data/member/snap/db: deadbeef",
		"member 1e0360906e862c29 and member ca12d5a36aa124c4 of cluster 123456abcdef": "a member and a member of cluster (an ID)",
	} {
		if got := withoutIDs(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
