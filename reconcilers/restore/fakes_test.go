package restore

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/restore"
)

// Prepare implements Preparing.
func (w *world) Prepare(ctx context.Context, o Order, check func(context.Context) error, say func(string)) (*restore.Marker, error) {
	say("it is being played")
	if err := check(ctx); err != nil {
		return nil, err
	}
	var m *restore.Marker
	err := w.call("prepare", func() (err error) { m, err = w.prep(o); return err })
	return m, err
}

// recovered is what the target's etcd says of itself.
func (w *world) recovered(context.Context, *v1alpha1.TalosCluster, *restore.Marker) (restore.Probe, error) {
	return restore.Probe{ClusterID: 0xbeef, Revision: w.revision}, w.broken["etcd"]
}

// fakeJobs notes what it is asked.
type fakeJobs struct {
	state  JobState
	known  bool
	starts int
	begun  bool
	ended  bool
	err    error
}

func (j *fakeJobs) Start(context.Context, *v1alpha1.TalosCluster, *v1alpha1.TalosEtcdBackup, *restore.Marker) error {
	if j.err != nil {
		return j.err
	}
	j.starts++
	j.known, j.state.Running = true, true
	return nil
}

func (j *fakeJobs) Begun(types.NamespacedName) { j.begun = true }

func (j *fakeJobs) State(types.NamespacedName) (JobState, bool) { return j.state, j.known }

func (j *fakeJobs) End(context.Context, types.NamespacedName) error {
	j.known, j.state, j.ended = false, JobState{}, true
	return nil
}

// recorder keeps events.
type recorder struct{ *world }

func (r recorder) Eventf(about, _ runtime.Object, kind, reason, _, note string, args ...any) {
	r.events = append(r.events, fmt.Sprintf("%T %s %s: %s", about, kind, reason, fmt.Sprintf(note, args...)))
}

// told tells whether an event of a kind of object, type and reason was told.
func (w *world) told(about, kind, reason string) string {
	for _, e := range w.events {
		if strings.HasPrefix(e, "*v1alpha1."+about+" "+kind+" "+reason+":") {
			return e
		}
	}
	return ""
}
