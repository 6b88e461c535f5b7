package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/api/v1alpha1"
)

// looksAt answers by the time since the first look.
func (w *operationWorld) looksAt(answer func(time.Duration) any) {
	began := time.Now()
	w.through = interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
			next := answer(time.Since(began))
			if err, bad := next.(error); bad {
				return err
			}
			next.(*v1alpha1.TalosOperation).DeepCopyInto(o.(*v1alpha1.TalosOperation))
			return nil
		},
	})
}

// What is waited for has its whole time from when it is seen first: an API that was away
// for long leaves the operation's own absence all of its own, and the other way round.
func TestOperationWatchCountsAnew(t *testing.T) {
	long := watchGone - time.Minute
	for name, c := range map[string]struct {
		answer func(time.Duration) any
		after  time.Duration
		want   error
	}{
		"away, then missing, then there": {func(at time.Duration) any {
			switch {
			case at > 0 && at < 2*watchGone:
				return errBroken
			case at >= 2*watchGone && at < 2*watchGone+long:
				return errMissing
			}
			return rewind()
		}, 0, nil},
		"away, then missing for ever": {func(at time.Duration) any {
			switch {
			case at > 0 && at < 2*watchGone:
				return errBroken
			case at > 0:
				return errMissing
			}
			return rewind()
		}, 3 * watchGone, errOperation},
		"missing, then away, then missing": {func(at time.Duration) any {
			switch {
			case at > long && at < 2*long:
				return errBroken
			case at > 0:
				return errMissing
			}
			return rewind()
		}, 2*long + watchGone, errOperation},
		"missing, then away for ever": {func(at time.Duration) any {
			switch {
			case at > long:
				return errBroken
			case at > 0:
				return errMissing
			}
			return rewind()
		}, long + watchAway, errAway},
		"there in between": {func(at time.Duration) any {
			if at == 0 || at > long && at < long+10*time.Second {
				return rewind()
			}
			return errMissing
		}, long + 10*time.Second + watchGone, errOperation},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newOperationWorld(t)
				w.now = time.Now
				began := time.Now()
				done := 4 * watchGone // longer than any that is to end by itself
				w.looksAt(func(elapsed time.Duration) any {
					if c.want == nil && elapsed >= done {
						return at(v1alpha1.PhaseCompleted, v1alpha1.StepReconciling, "Done.")
					}
					return c.answer(elapsed)
				})
				code, _, errs := w.run(newOperationWatchCommand, "rewind")
				took := time.Since(began)
				if c.want == nil {
					if code != exitOK {
						t.Errorf("exit %d after %s: %s", code, took, errs)
					}
					return
				}
				if code != exitFailed || !strings.Contains(errs, c.want.Error()+": get talosoperation/rewind") || took < c.after || took > c.after+2*watchEvery {
					t.Errorf("exit %d after %s, want %s: %s", code, took, c.after, errs)
				}
			})
		})
	}
}
