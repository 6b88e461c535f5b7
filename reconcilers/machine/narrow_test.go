package machine

import (
	"reflect"
	"slices"
	"testing"
)

// The removal of a machine can list, leave and remove by ID, hand over leadership, and
// ask who answers and whether it waits for a reboot. What wipes, reboots or restarts a
// machine is no method of what it is given.
//
// covers: B-3, C-23
func TestNodeIsNarrow(t *testing.T) {
	want := []string{"Close", "ConfigStaged", "ForfeitLeadership", "Leave", "MemberID", "Members", "NodeName", "RemoveMember", "VerifyCluster", "Version"}
	var got []string
	for m := range reflect.TypeFor[Node]().Methods() {
		got = append(got, m.Name)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("a Node has %v, want %v: say first why the removal of a machine needs more", got, want)
	}
}
