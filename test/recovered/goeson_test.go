package recovered

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/restored"
)

// TestCommandGoesOn: the machine of the controller loses its power while no API answers, and
// comes back as a new one: pod and folder are lost, and nobody works at the restore any
// more. The command that its log has of the beginning goes on where it was, and wipes nothing again;
// the controller that comes back with the API does the rest.
//
// covers: C-16, C-41
func TestCommandGoesOn(t *testing.T) {
	s := on(t, single)
	ctx, worker := within(t), s.Talos.Node("worker-1")
	s.settles(t, "worker-1")
	snapshot := s.before(t)
	s.after(t)
	wipes, uploads := len(s.Calls("Reset")), len(s.Calls("EtcdRecover"))
	lift := s.unrecovered("cp-1")
	defer lift()

	said := s.types(t, yes, "restore", "--live", "--override", "-n", restored.Namespace).ends(0, "Wipe etcd data on cp-1", "talosoperation.quorate.dev/")
	name := strings.TrimPrefix(strings.Fields(said[strings.LastIndex(said, "talosoperation.quorate.dev/"):])[0], "talosoperation.quorate.dev/")
	until(t, "the restore to bring the snapshot to cp-1", func(context.Context) error {
		if len(s.Calls("EtcdRecover")) == uploads {
			return fmt.Errorf("%w: it has got %q", errNotYet, s.acts())
		}
		return nil
	})
	must(t, s.Away(ctx))
	command := commandAtTheEnd(t, s.logged(t, "etcd of cluster factory is restored from snapshot "+snapshot))
	worker.PowerOff()
	lift()
	m := s.marker(t)
	if m == nil || m.Step != v1alpha1.StepRecovering || m.Operation.Name != name {
		t.Fatalf("the marker of %s is %+v", name, m)
	}

	goesOn := s.types(t, yes, command...)
	must(t, s.Back(ctx))
	must(t, worker.Reinstall())
	must(t, worker.PowerOn())
	goesOn.ends(0, "A restore is on its way, at Recovering; "+m.Owner.Identity+" may act until ", "etcd of cluster factory is recovered and complete")
	s.rewound(t)
	done, err := s.Completed(ctx, name)
	must(t, err)
	if done.Spec.EtcdRestore.Snapshot != snapshot || done.Status.EtcdRestore.Target != "cp-1" {
		t.Errorf("the operation that was made again is %+v, at %+v", done.Spec.EtcdRestore, done.Status.EtcdRestore)
	}
	s.over(t)
	must(t, s.Ready(within(t)))
	if got := s.wiped(wipes); !slices.Equal(got, []string{"cp-1"}) {
		t.Errorf("wiped: %q, want cp-1 once", got)
	}
}

// logged is the message of the manager's log that begins with these words.
func (s *stage) logged(t *testing.T, begins string) string {
	t.Helper()
	log := s.ManagerLog()
	for line := range strings.Lines(log) {
		var entry struct{ Msg string }
		if json.Unmarshal([]byte(line), &entry) == nil && strings.HasPrefix(entry.Msg, begins) {
			return entry.Msg
		}
	}
	t.Fatalf("nothing was logged that begins with %q:\n%s", begins, log)
	return ""
}
