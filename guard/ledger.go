package guard

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Ledger is the record of removals in an object's status. An entry is matched by
// member ID and cluster ID, never by name. Its functions answer a new ledger.
type Ledger []v1alpha1.RemovedMember

// maxLedger is what the API allows.
const maxLedger = 64

// Intend adds an entry before etcd is asked to remove the member. One that is there
// already stays as it is, confirmed or not. Of a full ledger the oldest confirmed
// entry goes; if none is confirmed, nothing can be added and ok is false.
func (l Ledger) Intend(id, cluster v1alpha1.HexID, name string, now time.Time) (out Ledger, ok bool) {
	if l.index(id, cluster) >= 0 {
		return l, true
	}
	out = slices.Clone(l)
	if len(out) >= maxLedger {
		i := out.oldestConfirmed()
		if i < 0 {
			return l, false
		}
		out = slices.Delete(out, i, i+1)
	}
	return append(out, v1alpha1.RemovedMember{ID: id, Name: name, ClusterID: cluster, State: v1alpha1.RemovalIntended, At: metav1.NewTime(now)}), true
}

// Confirm confirms every intended removal from the cluster whose member its
// linearizable list lacks.
func (l Ledger) Confirm(cluster v1alpha1.HexID, listed []v1alpha1.HexID, now time.Time) Ledger {
	out := slices.Clone(l)
	for i, e := range out {
		if e.State == v1alpha1.RemovalIntended && e.ClusterID == cluster && !slices.Contains(listed, e.ID) {
			out[i].State, out[i].At = v1alpha1.RemovalConfirmed, metav1.NewTime(now)
		}
	}
	return out
}

// Withdraw drops an intended entry whose member stays after all; a confirmed one
// stays.
func (l Ledger) Withdraw(id, cluster v1alpha1.HexID) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e v1alpha1.RemovedMember) bool {
		return e.ID == id && e.ClusterID == cluster && e.State == v1alpha1.RemovalIntended
	})
}

// Prune drops the confirmed entry of a member whose disk is gone: it can never try
// to come back.
func (l Ledger) Prune(id, cluster v1alpha1.HexID) Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(e v1alpha1.RemovedMember) bool {
		return e.ID == id && e.ClusterID == cluster && e.State == v1alpha1.RemovalConfirmed
	})
}

func (l Ledger) index(id, cluster v1alpha1.HexID) int {
	return slices.IndexFunc(l, func(e v1alpha1.RemovedMember) bool { return e.ID == id && e.ClusterID == cluster })
}

func (l Ledger) oldestConfirmed() int {
	oldest := -1
	for i, e := range l {
		if e.State == v1alpha1.RemovalConfirmed && (oldest < 0 || e.At.Before(&l[oldest].At)) {
			oldest = i
		}
	}
	return oldest
}

// IntendAt is Intend for a member that is known again by its place: a Talos node that
// reboots joins with a new ID.
func (l Ledger) IntendAt(m Member, id, cluster v1alpha1.HexID, now time.Time) (out Ledger, ok bool) {
	out, ok = l.Intend(id, cluster, m.Name, now)
	if i := out.index(id, cluster); ok && i >= 0 && len(out[i].PeerURLs) == 0 {
		out = slices.Clone(out)
		for _, u := range m.PeerURLs[:min(len(m.PeerURLs), maxPeerURLs)] {
			out[i].PeerURLs = append(out[i].PeerURLs, v1alpha1.URL(u))
		}
	}
	return out, ok
}

// maxPeerURLs is what the API allows.
const maxPeerURLs = 5
