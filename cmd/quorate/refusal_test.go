package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// refuses answers with a status that is no silence.
func refuses(code int, reason metav1.StatusReason) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: reason, Message: string(reason), Code: int32(code)})
	}
}

// An API server that does not take the credentials, or lets the caller not read, is told as
// what it is, once; it is asked for five minutes more, as one that has just started knows
// no rules yet. No other server is tried, and nobody is called silent.
//
// covers: C-40
func TestFollowIsRefused(t *testing.T) {
	for text, says := range map[string]func(http.ResponseWriter){
		"it does not take the credentials (401): a token that was made after the snapshot is not known any more. Log in anew, or use a client certificate, then follow it again: quorate operation watch rewind": refuses(http.StatusUnauthorized, metav1.StatusReasonUnauthorized),
		"it lets you not read the operation (403): a role that was given after the snapshot is gone. Have it given again, then follow it again: quorate operation watch rewind":                                  refuses(http.StatusForbidden, metav1.StatusReasonForbidden),
	} {
		p := play(t, func(*played, time.Duration) {})
		p.stages[0].set(says)
		_, err := p.follow(t.Context())
		if err == nil || !strings.HasPrefix(strings.ReplaceAll(err.Error(), ":"+p.port, ""), "API server https://127.0.0.1 answers, and for 5m0s "+text) {
			t.Errorf("got %v\nwant %s", err, text)
		}
		if elapsed := p.clock.Sub(p.began); elapsed < refusedLimit || elapsed > refusedLimit+10*time.Second {
			t.Errorf("it gave up after %s", elapsed)
		}
		if got := p.text(); strings.Count(got, "API server https://127.0.0.1 answers, and "+text) != 1 || strings.Contains(got, "trying") || strings.Contains(got, "does not answer") {
			t.Errorf("it says\n%s", got)
		}
	}
}

// It passes: the count begins anew, and the operation is followed to its end.
//
// covers: C-40
func TestFollowIsRefusedForAWhile(t *testing.T) {
	most := refusedLimit - 10*time.Second
	p := play(t, func(p *played, elapsed time.Duration) {
		switch {
		case elapsed < most:
			p.stages[0].set(refuses(http.StatusForbidden, metav1.StatusReasonForbidden))
		case elapsed < most+10*time.Second:
			p.stages[0].set(shows(operationAt(v1alpha1.PhaseRunning, v1alpha1.StepRejoining, "")))
		case elapsed < 2*most:
			p.stages[0].set(refuses(http.StatusForbidden, metav1.StatusReasonForbidden))
		default:
			p.stages[0].set(shows(operationAt(v1alpha1.PhaseCompleted, v1alpha1.StepReconciling, "")))
		}
	})
	p.stages[0].set(shows(operationAt(v1alpha1.PhaseRunning, v1alpha1.StepWiping, "")))
	if op, err := p.follow(t.Context()); err != nil || op.Status.Phase != v1alpha1.PhaseCompleted {
		t.Errorf("%v, %v", op, err)
	}
}
