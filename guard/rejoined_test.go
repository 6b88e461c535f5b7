package guard

import (
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
)

func TestRejoined(t *testing.T) {
	removed := func(id, cluster v1alpha1.HexID, urls ...v1alpha1.URL) v1alpha1.RemovedMember {
		return v1alpha1.RemovedMember{ID: id, ClusterID: cluster, PeerURLs: urls, State: v1alpha1.RemovalConfirmed}
	}
	members := []Member{cp(0xa1, "cp-1", 1), cp(0xb2, "cp-2", 2)}
	cases := []struct {
		name   string
		ledger Ledger
		want   string
	}{
		{"nothing was removed", nil, ""},
		{"at the same place", Ledger{removed("7", "c", "https://192.0.2.9:2380", "https://192.0.2.2:2380")}, "cp-2"},
		{"with the same ID", Ledger{removed("b2", "c")}, "cp-2"},
		{"of another cluster", Ledger{removed("b2", "d", "https://192.0.2.2:2380")}, ""},
		{"at another port", Ledger{removed("7", "c", "https://192.0.2.2:12380")}, ""},
		{"both", Ledger{removed("7", "c", "https://192.0.2.2:2380"), removed("8", "c", "https://192.0.2.1:2380")}, "cp-1 cp-2"},
		{"by two entries, once", Ledger{removed("7", "c", "https://192.0.2.2:2380"), removed("b2", "c")}, "cp-2"},
		{"a removal that had not ended", Ledger{{ID: "b2", ClusterID: "c", State: v1alpha1.RemovalIntended}}, "cp-2"},
		{"of the same name alone", Ledger{{ID: "7", ClusterID: "c", Name: "cp-2"}}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got string
			for i, m := range c.ledger.Rejoined(members, "c") {
				if i > 0 {
					got += " "
				}
				got += m.Label()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
