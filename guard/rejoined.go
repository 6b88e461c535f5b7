package guard

import (
	"slices"
	"strconv"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Rejoined are those of the members that the ledger knows as removed from this cluster:
// by their ID, or by a peer URL, since a Talos node that rebooted after it had left
// joins again with a new ID at the same place.
func (l Ledger) Rejoined(members []Member, cluster v1alpha1.HexID) []Member {
	return matching(members, func(m Member) bool {
		return slices.ContainsFunc(l, func(e v1alpha1.RemovedMember) bool {
			return e.ClusterID == cluster && (e.ID == v1alpha1.HexID(strconv.FormatUint(m.ID, 16)) || atAny(m, e.PeerURLs))
		})
	})
}

func atAny(m Member, urls []v1alpha1.URL) bool {
	return slices.ContainsFunc(urls, func(u v1alpha1.URL) bool { return slices.Contains(m.PeerURLs, string(u)) })
}
