package restore

import (
	"context"
	"errors"

	"github.com/quorate/quorate/guard/restoring"
)

// end has everybody know how the job ended, as far as they can be reached.
func (r *run) end(ctx context.Context) (Result, error) {
	outcome, why := Done, ""
	if r.marker.Failure != "" {
		outcome, why = Paused, r.marker.Failure
	}
	r.tell(r.marker.LastNote)
	giveUp := r.Clock.Now().Add(tellLimit)
	for r.behind || r.saved != r.marker.saved() {
		err := r.save(ctx, true)
		switch {
		case errors.Is(err, errLost):
			return r.result(Lost, err.Error()), nil
		case err == nil && !r.behind, r.Store == nil, !r.Clock.Now().Before(giveUp):
			return r.result(outcome, why), nil
		}
		r.slower()
		if err := sleep(ctx, r.pause); err != nil {
			return r.result(outcome, why), err
		}
	}
	return r.result(outcome, why), nil
}

func (r *run) result(o Outcome, why string) Result {
	return Result{Outcome: o, Marker: *r.marker, Why: why}
}

// failure adds the way out to what went wrong.
func failure(m *Marker, what string) string {
	if what == "" {
		return ""
	}
	way := restoring.Recovery{Snapshot: m.Snapshot.Name, Nodes: m.Endpoints()}
	return what + " See to the cause, then go on from here with: " + way.Command()
}

// tell keeps and reports what is done or waited for.
func (r *run) tell(note string) {
	r.marker.LastNote = note
	if told := string(r.marker.Step) + note + r.marker.Failure; told != r.told {
		r.told = told
		r.Log.Info("restore", "step", r.marker.Step, "note", note, "failure", r.marker.Failure)
		if r.Report != nil {
			r.Report(Progress{r.Clock.Now(), r.marker.Step, note, r.marker.ExtraWipes})
		}
	}
}
