package restore

import (
	"errors"
	"testing"

	"github.com/quorate/quorate/internal/talos"
)

// answering plays a restore whose target answers so to uploads or bootstraps, and tells
// how often it was asked.
func answering(t *testing.T, call string, mismatch int, says ...error) (p *play, asked int) {
	t.Helper()
	p = newPlay()
	p.prepare = func(w *world, _ *Marker) {
		w.mismatch = mismatch
		w.node("cp-a").says = map[string][]error{call: says}
	}
	p.run(t)
	return p, p.calls.count["cp-a/"+call]
}

// acts are those whose answer may be final, with the call that each is.
var acts = []struct{ call, act string }{{"Recover", "upload"}, {"Bootstrap", "bootstrap"}}

// Each kind of answer to an upload or a bootstrap ends the restore at once, or is asked
// again: FailedPrecondition is ErrNotReady, DeadlineExceeded ErrLate of the node and
// ErrUnreachable of this side's clock.
//
// covers: C-14, C-33
func TestFinalAnswers(t *testing.T) {
	for _, c := range []struct {
		says  error
		final bool
	}{
		{talos.ErrDenied, true}, {talos.ErrWrongCA, true}, {talos.ErrWrongCertificate, true}, {talos.ErrExpired, true},
		{talos.ErrNotControlPlane, true}, {talos.ErrNotFound, true}, {talos.ErrOtherCluster, true}, {talos.ErrBundle, true}, {talos.ErrClosedDoor, true},
		{talos.ErrNotReady, false}, {talos.ErrLate, false}, {talos.ErrUnreachable, false}, {talos.ErrShortDeadline, false}, {talos.ErrHasData, false},
		{talos.ErrFailed, false}, {errors.New("read it: the store is away"), false},
	} {
		for _, a := range acts {
			p, asked := answering(t, a.call, 0, c.says)
			if !c.final {
				p.check(t)
				if asked < 2 {
					t.Errorf("%s answered %q: it was asked %d times, want again", a.call, c.says, asked)
				}
				continue
			}
			want := "cp-a cannot recover etcd (" + a.act + "): " + a.call + " at 192.0.2.1: " + c.says.Error() + ". See to the cause, then go on from here with: quorate restore --recover-cluster "
			says(t, a.call+" answered "+c.says.Error(), string(p.result.Outcome)+" "+p.result.Why, "Paused "+want)
			if asked != 1 {
				t.Errorf("%s answered %q: it was asked %d times, want once", a.call, c.says, asked)
			}
		}
	}
}

// Three answers without a code in a row are an end. One of another kind, silence, or a
// success between them has the count begin anew.
//
// covers: C-14
func TestAnswersWithoutACode(t *testing.T) {
	no := talos.ErrFailed
	for _, a := range acts {
		p, asked := answering(t, a.call, 0, no, no, no, no)
		says(t, "three in a row", string(p.result.Outcome)+" "+p.result.Why, "Paused cp-a cannot recover etcd ("+a.act+"): ")
		if asked != 3 {
			t.Errorf("%s: asked %d times, want 3", a.call, asked)
		}
		for _, between := range []error{talos.ErrNotReady, talos.ErrLate, talos.ErrUnreachable, talos.ErrHasData} {
			p, asked := answering(t, a.call, 0, no, no, between, no, no)
			p.check(t)
			if asked < 6 {
				t.Errorf("%s, %v between: asked %d times, want 6", a.call, between, asked)
			}
		}
		p, asked = answering(t, a.call, 1, no, no, nil, no, no) // what it recovers first does not match
		p.check(t)
		if asked < 6 {
			t.Errorf("%s, a success between: asked %d times, want 6", a.call, asked)
		}
	}
}
