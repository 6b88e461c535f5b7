package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quorate/quorate/guard/rejoin"
)

func TestReasonAndCode(t *testing.T) {
	refused := Judgement{Verdict: rejoin.Verdict{Action: rejoin.Refuse, Err: rejoin.ErrDiskLost, Reason: "the member's disk is lost: replace it"}}.Refusal()
	for _, c := range []struct {
		err    error
		code   int
		reason string
	}{
		{refused, ExitDiskLost, "ErrDiskLost: the member's disk is lost: replace it"},
		{fmt.Errorf("%w (5m): of\n  two lines", ErrWaited), ExitWaited, "ErrWaited: waited for too long (5m): of two lines"},
		{fmt.Errorf("%w: guard.yaml", ErrConfig), ExitUsage, "ErrConfig: configuration: guard.yaml"},
		{errors.New("disk full"), ExitFailed, "ErrFailed: disk full"},
	} {
		if Code(c.err) != c.code || Reason(c.err) != c.reason {
			t.Errorf("got %d %q, want %d %q", Code(c.err), Reason(c.err), c.code, c.reason)
		}
	}
	if Code(nil) != ExitOK {
		t.Error("no error is no success")
	}
	if long := Reason(errors.New(strings.Repeat("x", 5000))); len(long) != maxReason {
		t.Errorf("a reason of %d bytes", len(long))
	}
	if err := (Judgement{Verdict: rejoin.Verdict{Action: rejoin.Wait}}).Refusal(); err != nil {
		t.Errorf("a wait refuses: %v", err)
	}
}

// Every refusal of a verdict has an exit code of its own.
func TestEveryRefusalHasACode(t *testing.T) {
	seen := map[int]error{}
	for _, err := range []error{
		rejoin.ErrMemberPermanentlyRemoved, rejoin.ErrMembershipCheckFailed, rejoin.ErrOtherCluster,
		rejoin.ErrCopiedVolume, rejoin.ErrDiskLost, rejoin.ErrBeyondReplicas, ErrWaited, ErrConfig,
	} {
		code := Code(err)
		if code == ExitFailed || code == ExitOK || seen[code] != nil {
			t.Errorf("%v has the code %d, as %v has", err, code, seen[code])
		}
		seen[code] = err
	}
}
