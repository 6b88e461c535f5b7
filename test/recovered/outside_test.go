package recovered

import (
	"slices"
	"testing"

	"github.com/quorate/quorate/test/restored"
)

// TestControllerOutside: the controller runs on none of the machines, so none is its own:
// all three are wiped at once, and nobody leaves etcd first.
//
// covers: C-13, C-19
func TestControllerOutside(t *testing.T) {
	s := on(t, apart)
	ctx := within(t)
	must(t, s.Ready(ctx))
	snapshot := s.before(t)
	s.after(t)
	wipes, left := len(s.Calls("Reset")), len(s.Calls("EtcdLeaveCluster"))
	order := restored.Order("from-outside", restored.Backup, snapshot)
	must(t, s.Client.Create(ctx, order))
	must(t, s.Away(ctx))
	m := s.marker(t)
	if m == nil || m.Own != "" || m.Target != "cp-1" || len(m.Nodes) != 3 {
		t.Fatalf("the marker is %+v, want no own node", m)
	}
	must(t, s.Back(ctx))
	s.rewound(t)
	done, err := s.Completed(ctx, order.Name)
	must(t, err)
	if done.UID == order.UID {
		t.Error("the operation is the one of before: nothing was rewound")
	}
	s.over(t)
	must(t, s.Ready(within(t)))
	got := s.wiped(wipes)
	slices.Sort(got)
	if !slices.Equal(got, []string{"cp-1", "cp-2", "cp-3"}) || len(s.Calls("EtcdLeaveCluster")) != left {
		t.Errorf("wiped: %q, want each once; told by the operation: %s; asked to leave: %+v", got, done.Status.EtcdRestore.Message, s.Calls("EtcdLeaveCluster")[left:])
	}
}
