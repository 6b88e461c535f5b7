package doctor

import (
	"strings"
	"testing"
)

func TestCheckOf(t *testing.T) {
	for _, tc := range []struct {
		states []State
		want   State
	}{
		{nil, Unknown},
		{[]State{OK}, OK},
		{[]State{OK, Unknown, OK}, Unknown},
		{[]State{Unknown, Warning}, Warning},
		{[]State{Failed, OK, Warning}, Failed},
	} {
		var findings []Finding
		for _, s := range tc.states {
			findings = append(findings, Finding{State: s})
		}
		if got := checkOf("x", findings).State; got != tc.want {
			t.Errorf("%v: got %s, want %s", tc.states, got, tc.want)
		}
	}
}

func TestReportFailed(t *testing.T) {
	r := Report{Checks: []Check{{State: OK}, {State: Warning}, {State: Unknown}}}
	if r.Failed() {
		t.Error("a warning is no failure")
	}
	if r.Checks = append(r.Checks, Check{State: Failed}); !r.Failed() {
		t.Error("a failed check is a failure")
	}
}

func TestWriteTable(t *testing.T) {
	r := Report{Checks: []Check{
		{"crds", OK, []Finding{{State: OK, Seen: "All is well"}}},
		{"manager", Failed, []Finding{{Failed, "0 of 2 replicas are ready", "Look at the pods."}, {State: OK, Seen: "There is a budget"}}},
		{"policies", Failed, []Finding{{Failed, "One is missing", "Install."}, {Failed, "Another is missing", "Install."}}},
	}}
	var out strings.Builder
	if err := r.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	const want = `CHECK     STATE   SEEN
crds      ok      All is well
manager   failed  0 of 2 replicas are ready
                    -> Look at the pods.
          ok      There is a budget
policies  failed  One is missing
          failed  Another is missing
                    -> Install.
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestSummed(t *testing.T) {
	good, bad := Finding{State: OK, Seen: "one is well"}, Finding{Failed, "one is not", "Mend it."}
	if got, want := summed([]Finding{good, good}, "both are well"), (Finding{State: OK, Seen: "both are well"}); len(got) != 1 || got[0] != want {
		t.Errorf("got %+v", got)
	}
	if got := summed([]Finding{good, bad}, "both are well"); len(got) != 1 || got[0] != bad {
		t.Errorf("got %+v", got)
	}
}
