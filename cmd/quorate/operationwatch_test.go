package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/api/v1alpha1"
)

// looks answers the n-th look with the n-th of these; the last one stays.
func (w *operationWorld) looks(answers ...any) {
	w.through = interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			next := answers[0]
			if len(answers) > 1 {
				answers = answers[1:]
			}
			if err, bad := next.(error); bad {
				return err
			}
			next.(*v1alpha1.TalosOperation).DeepCopyInto(o.(*v1alpha1.TalosOperation))
			return nil
		},
	})
}

func at(phase v1alpha1.OperationPhase, step v1alpha1.RestoreStep, message string) *v1alpha1.TalosOperation {
	op := rewind()
	op.Status.Phase, op.Status.EtcdRestore.Step, op.Status.EtcdRestore.Message = phase, step, message
	return op
}

var errMissing = apierrors.NewNotFound(schema.GroupResource{Group: "quorate.dev", Resource: "talosoperations"}, "rewind")

// Each change is a line, the API's absence and the operation's own are waited for, and
// the end is told.
func TestOperationWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newOperationWorld(t)
		began := time.Now()
		w.now = func() time.Time { return operationNow.Add(time.Since(began)) }
		w.looks(at("", "", ""), at(v1alpha1.PhaseRunning, v1alpha1.StepWiping, "cp-2 reboots."), at(v1alpha1.PhaseRunning, v1alpha1.StepWiping, "cp-2 reboots."),
			errBroken, errBroken, errMissing, at(v1alpha1.PhaseRunning, v1alpha1.StepReconciling, "cp-1 is waited for."), at(v1alpha1.PhaseCompleted, v1alpha1.StepReconciling, "Done."))
		code, out, errs := w.run(newOperationWatchCommand, "rewind", "-o", "json")
		want := `15:30:00 Pending: no word yet
15:30:02 Running Wiping: cp-2 reboots.
15:30:06 Running Wiping: The API server does not answer, as during a restore; it is asked again: the API server is away: get talosoperation/rewind in factory: connection refused
15:30:10 Running Wiping: The operation is not there: a restore's rewind takes it, and its controller makes it anew. It is waited for.
15:30:12 Running Reconciling: cp-1 is waited for.
15:30:14 Completed Reconciling: Done.
`
		if code != exitOK || errs != want || !strings.Contains(out, `"phase": "Completed"`) {
			t.Errorf("exit %d\n%s\n%s\nwant\n%s", code, errs, out, want)
		}
	})
}

func TestOperationWatchEnds(t *testing.T) {
	paused := at(v1alpha1.PhasePaused, "", "")
	paused.Status.FailureReason = "cp-2 is silent; nothing was changed."
	for name, c := range map[string]struct {
		answers []any
		after   time.Duration
		want    string
	}{
		"paused":  {[]any{paused}, 0, "the operation is paused: cp-2 is silent; nothing was changed."},
		"held":    {[]any{heldOperation()}, 0, "the operation is held by a restore: see what it would do, and release it with quorate operation release older -n factory"},
		"missing": {[]any{errMissing}, 0, `get talosoperation/rewind in factory: talosoperations.quorate.dev "rewind" not found`},
		"gone":    {[]any{rewind(), errMissing}, watchGone, `the operation is gone: get talosoperation/rewind in factory: talosoperations.quorate.dev "rewind" not found`},
		"away":    {[]any{rewind(), errBroken}, watchAway, "the API server is away: get talosoperation/rewind in factory: connection refused"},
		"denied": {[]any{rewind(), apierrors.NewForbidden(schema.GroupResource{}, "rewind", errBroken)}, refusedLimit,
			`the API server answers, and for 5m0s it lets you not read the operation (403): a role that was given after the snapshot is gone. Have it given again, then follow it again: quorate operation watch rewind (get talosoperation/rewind in factory: forbidden: connection refused)`},
		"not known": {[]any{rewind(), apierrors.NewUnauthorized("Unauthorized")}, refusedLimit,
			`the API server answers, and for 5m0s it does not take the credentials (401): a token that was made after the snapshot is not known any more. Log in anew, or use a client certificate, then follow it again: quorate operation watch rewind (get talosoperation/rewind in factory: Unauthorized)`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newOperationWorld(t)
				w.now = time.Now
				w.looks(c.answers...)
				began := time.Now()
				code, _, errs := w.run(newOperationWatchCommand, "rewind")
				lines := strings.Split(strings.TrimSpace(errs), "\n")
				if code != exitFailed || lines[len(lines)-1] != c.want {
					t.Errorf("exit %d, %s\nwant %s", code, errs, c.want)
				}
				if took := time.Since(began); took < c.after || took > c.after+watchEvery {
					t.Errorf("it took %s, want %s", took, c.after)
				}
			})
		})
	}
}

// On a terminal the picture is drawn in place, no line longer than a row of it.
func TestProgressIsRedrawn(t *testing.T) {
	var b bytes.Buffer
	p := newOperationProgress(&b, func() time.Time { return operationNow })
	p.redraw, p.width = true, 40
	p.show(at(v1alpha1.PhaseRunning, v1alpha1.StepWiping, "cp-2 reboots, and everybody waits for it."), "")
	first := "talosoperation/rewind  Running  5m\n  ▸ Wiping       since 15:30:00\n    Recovering\n    Rejoining\n    Reconciling\n  cp-2 reboots, and everybody waits fo…\n"
	if got := b.String(); got != first {
		t.Errorf("got\n%s\nwant\n%s", got, first)
	}
	b.Reset()
	p.show(at(v1alpha1.PhaseCompleted, v1alpha1.StepReconciling, ""), "")
	second := fmt.Sprintf("\x1b[%dA\x1b[J", 6) + "talosoperation/rewind  Completed  5m\n  ✓ Wiping       since 15:30:00\n  ✓ Recovering\n  ✓ Rejoining\n  ✓ Reconciling  since 15:30:00\n"
	if got := b.String(); got != second {
		t.Errorf("got\n%q\nwant\n%q", got, second)
	}
}
