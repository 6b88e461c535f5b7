package conditions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Cut("abc", 3), "abc"}, {Cut("abcd", 3), "abc"}, {Cut("aaü", 3), "aa"},
		{OneLine(errors.New("a\n\tb  c.")), "a b c"}, {OneLine(errors.New("a")), "a"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The time is that of the last change of status or reason, and not of the message.
func TestSet(t *testing.T) {
	begin := time.Unix(1800000000, 0)
	at := func(s int) metav1.Time { return metav1.NewTime(begin.Add(time.Duration(s) * time.Second)) }
	var all []metav1.Condition
	for i, c := range []struct {
		status          metav1.ConditionStatus
		reason, message string
		since           int
	}{
		{metav1.ConditionTrue, "A", "a", 0}, {metav1.ConditionTrue, "A", "another", 0},
		{metav1.ConditionTrue, "B", "b", 2}, {metav1.ConditionFalse, "B", strings.Repeat("x", MaxMessage+1), 3},
	} {
		Set(&all, metav1.Condition{Type: "Ready", Status: c.status, Reason: c.reason, Message: c.message, LastTransitionTime: at(i)})
		got := meta.FindStatusCondition(all, "Ready")
		since := at(c.since)
		if got.Reason != c.reason || got.Message != Cut(c.message, MaxMessage) || !got.LastTransitionTime.Equal(&since) {
			t.Errorf("step %d: %s since %s", i, got.Reason, got.LastTransitionTime)
		}
	}
}
