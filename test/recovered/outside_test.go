package recovered

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/test/restored"
)

// TestControllerOutside: the controller runs on none of the machines, so none is its own:
// all three are wiped at once, and nobody leaves etcd first. etcd is away for so long that
// the process loses its lease: it stays for its restore, and either it takes the lease again
// or it ends after that, and the one that is begun in its place makes the operation again.
//
// covers: C-13, C-19, C-27
func TestControllerOutside(t *testing.T) {
	s := on(t, apart)
	ctx := within(t)
	must(t, s.Ready(ctx))
	snapshot := s.before(t)
	s.after(t)
	wipes, left := len(s.Calls("Reset")), len(s.Calls("EtcdLeaveCluster"))
	lift := s.unrecovered("cp-1")
	defer lift()
	order := restored.Order("from-outside", restored.Backup, snapshot)
	must(t, s.Client.Create(ctx, order))
	must(t, s.Away(ctx))
	m := s.marker(t)
	if m == nil || m.Own != "" || m.Target != "cp-1" || len(m.Nodes) != 3 {
		t.Fatalf("the marker is %+v, want no own node", m)
	}
	s.says(t, "the lease of the controllers is lost while this process restores a cluster")
	lift()
	must(t, s.Back(ctx))
	s.rewound(t)
	// It depends on whether the others have rejoined before the lease is free.
	s.says(t, "this process ends: it has lost the lease, and its restore is over", "the lease of the controllers is taken again, and the process stays")
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

// says waits until the manager has logged one of these words.
func (s *stage) says(t *testing.T, words ...string) {
	t.Helper()
	until(t, "the manager to say: "+strings.Join(words, ", or: "), func(context.Context) error {
		log := s.ManagerLog()
		if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(log, w) }) {
			return fmt.Errorf("%w: it has not", errNotYet)
		}
		return nil
	})
}
