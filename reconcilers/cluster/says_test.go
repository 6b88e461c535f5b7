package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// says compares a condition with "Status Reason: message".
func (w *world) says(kind, want string) {
	w.t.Helper()
	for _, c := range w.cluster().Status.Conditions {
		if c.Type != kind {
			continue
		}
		if got := fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message); got != want {
			w.t.Errorf("%s\ngot  %s\nwant %s", kind, got, want)
		}
		return
	}
	w.t.Errorf("there is no condition %s", kind)
}

func (w *world) tells(want ...string) {
	w.t.Helper()
	if got := w.took(); !slices.Equal(got, want) {
		w.t.Errorf("events\ngot  %q\nwant %q", got, want)
	}
}

// ledgerText is the ledger in one line.
func (w *world) ledgerText() string {
	w.t.Helper()
	var out []string
	for _, e := range w.cluster().Status.RemovedMembers {
		out = append(out, fmt.Sprintf("%s %s@%s %s %s", e.Name, e.ID, e.ClusterID, e.State, e.PeerURLs))
	}
	return strings.Join(out, ", ")
}
