package restoreplan

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A long difference is cut, and what was cut is counted.
func TestCutText(t *testing.T) {
	var d Differences
	for i := range 30 {
		for j := range 7 {
			d.Vanish.add(object{"pods", fmt.Sprintf("n%02d", i), fmt.Sprintf("p%d", j)})
		}
	}
	var out strings.Builder
	if err := (&Plan{Objects: &d}).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Exist now and not in the snapshot: they are lost: 210 objects\n  7 pods in n00: p0, p1, p2, p3, p4 and 2 more\n",
		"  7 pods in n19: p0, p1, p2, p3, p4 and 2 more\n  and 70 objects in 10 more groups\n",
		"Exist in the snapshot and not now: they come back: 0 objects\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestExtent(t *testing.T) {
	for _, tt := range []struct {
		lost Lost
		want string
	}{
		{Lost{Seconds: 59}, " (59s)"},
		{Lost{Seconds: 61, Revisions: 1}, " (1m1s, 1 revision of etcd)"},
		{Lost{Seconds: 3600 * 49, Revisions: 7}, " (2d1h, 7 revisions of etcd)"},
		{Lost{Seconds: 7200, Revisions: bump + 3}, " (2h0m; a restore in between keeps the changes from being counted)"},
	} {
		if got := (&facts{}).extent(tt.lost); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.lost, got, tt.want)
		}
	}
	if got := span(-time.Second); got != "-1s" {
		t.Errorf("got %s", got)
	}
}
