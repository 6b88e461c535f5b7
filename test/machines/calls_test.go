package machines

import (
	"fmt"
	"slices"
	"strings"

	"github.com/quorate/quorate/test/talos"
)

// The calls that a removal makes at a node.
const (
	leave   = "EtcdLeaveCluster"
	remove  = "EtcdRemoveMemberByID"
	forfeit = "EtcdForfeitLeadership"
)

// calls are those of these methods, by all nodes, in the order of their arrival.
func (f *fleet) calls(methods ...string) []talos.Call {
	return slices.DeleteFunc(f.talos.Calls(), func(c talos.Call) bool { return !slices.Contains(methods, c.Method) })
}

// asked wants exactly these calls that take a member out, as "cp-3 EtcdLeaveCluster"
// and in this order. None of them may be for a member that was gone already.
func (f *fleet) asked(want ...string) {
	f.t.Helper()
	var got []string
	for _, c := range f.calls(leave, remove) {
		got = append(got, c.Node+" "+c.Method)
	}
	if !slices.Equal(got, want) {
		f.t.Errorf("the nodes were asked %q, want %q\n%s", got, want, tell(f.calls(leave, remove, forfeit)))
	}
	f.askedOnce()
}

// askedOnce wants no call for the removal of a member that was gone already.
func (f *fleet) askedOnce() {
	f.t.Helper()
	for _, c := range f.calls(leave, remove) {
		if c.Listing == talos.Gone {
			f.t.Errorf("a member that was gone was removed again: %s", tell([]talos.Call{c}))
		}
	}
}

// survivorRemoves wants the member to have been removed by ID, through others than the
// machine that goes. etcd may refuse at first: what it takes is the last call.
func (f *fleet) survivorRemoves(name string, id uint64) {
	f.t.Helper()
	calls := f.calls(remove)
	for _, c := range calls {
		if c.Node == name || c.MemberID != id {
			f.t.Errorf("a survivor had to remove %x:%s", id, tell(calls))
		}
	}
	if len(calls) == 0 {
		f.t.Errorf("a survivor had to remove %x, and none was asked", id)
	}
	f.askedOnce()
}

// changes are calls that change a node or its etcd.
func changes(method string) bool {
	return slices.Contains([]string{leave, remove, forfeit, "Reset", "Reboot", "Shutdown", "Bootstrap", "EtcdDefragment", "EtcdAlarmDisarm"}, method)
}

// aboutEtcd is the first call that a worker has no answer to, and empty if none came.
func aboutEtcd(n *talos.Node) string {
	for _, c := range n.Calls() {
		if strings.HasPrefix(c.Method, "Etcd") || changes(c.Method) {
			return c.Method
		}
	}
	return ""
}

// tell is calls, a line each.
func tell(calls []talos.Call) string {
	var b strings.Builder
	for _, c := range calls {
		took := "under way"
		if !c.Ended.IsZero() {
			took = c.Ended.Sub(c.Began).String()
		}
		fmt.Fprintf(&b, "\n  %s %s %s %x %s, %s: %v", c.Began.Format("15:04:05.000"), c.Node, c.Method, c.MemberID, c.Listing, took, c.Err)
	}
	return b.String()
}
