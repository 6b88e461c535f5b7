package restore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// A control plane that does not come back is left out by a person's command, also the one
// that etcd is, or was, recovered on: the others are recovered, and it is asked for nothing.
//
// covers: C-41
func TestWithoutAMachine(t *testing.T) {
	for _, tt := range []struct {
		name, gone, target string
		prepare            func(*world, *Marker)
	}{
		{"another one", "cp-c", "cp-a", func(*world, *Marker) {}},
		{"the target", "cp-a", "cp-b", func(*world, *Marker) {}},
		{"the one that etcd was recovered on, and a voter that has no quorum without it", "cp-a", "cp-b", func(w *world, m *Marker) {
			w.recovered("cp-a")
			l := w.node("cp-a").data
			l.members = append(l.members, &member{2, w.node("cp-b"), false})
			w.node("cp-b").data, w.node("cp-b").id = l, 2
			w.node("cp-c").data, w.node("cp-c").joinAt = nil, w.at
			m.Step = v1alpha1.StepRejoining
		}},
	} {
		p := newPlay()
		p.prepare = func(w *world, m *Marker) { tt.prepare(w, m); w.node(tt.gone).silent = true }
		synctest.Test(t, func(t *testing.T) {
			p.begin()
			first, err := p.second("process-0", false).Run(context.Background())
			if err != nil || first.Outcome != Paused || !strings.Contains(first.Why, "--without "+tt.gone+",") {
				t.Errorf("%s: got %s (%s), %v; want Paused, with the way out", tt.name, first.Outcome, first.Why, err)
			}
			asked := p.calls.count[tt.gone+"/BootID"]
			job := p.second("person", true)
			job.Without = []string{tt.gone}
			if p.result, err = job.Run(context.Background()); err != nil {
				t.Error(err)
			}
			p.planes = 2
			p.check(t)
			if m := p.result.Marker; m.Target != tt.target || len(m.LeftOut) != 1 || m.Node(tt.gone) != nil || p.calls.count[tt.gone+"/BootID"] != asked {
				t.Errorf("%s: got target %s, left out %+v, and it was asked %d times more", tt.name, m.Target, m.LeftOut, p.calls.count[tt.gone+"/BootID"]-asked)
			}
		})
	}
}

// What cannot be left out stops the command before anything is written.
func TestWithoutUnknown(t *testing.T) {
	p := newPlay()
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		version := p.w.store.objects[MarkerName].version
		job := p.second("person", true)
		job.Without = []string{"cp-x"}
		if _, err := job.Run(context.Background()); !errors.Is(err, restoring.ErrLeaveOut) || p.w.store.objects[MarkerName].version != version {
			t.Errorf("got %v, version %s, want %s", err, p.w.store.objects[MarkerName].version, version)
		}
	})
}
