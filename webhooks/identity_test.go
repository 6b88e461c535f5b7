package webhooks

import (
	"fmt"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

// The controller is one exact user name and nothing else.
// covers: C-6
func TestController(t *testing.T) {
	for _, tt := range []struct {
		name, user string
		exempt     bool
	}{
		{"the controller", `{"username":"system:serviceaccount:quorate-system:quorate-controller"}`, true},
		{"its name as a prefix", `{"username":"system:serviceaccount:quorate-system:quorate-controller-2"}`, false},
		{"its name with a space", `{"username":"system:serviceaccount:quorate-system:quorate-controller "}`, false},
		{"its name in capitals", `{"username":"SYSTEM:SERVICEACCOUNT:QUORATE-SYSTEM:QUORATE-CONTROLLER"}`, false},
		{"its name in another namespace", `{"username":"system:serviceaccount:default:quorate-controller"}`, false},
		{"a neighbour in its namespace", `{"username":"system:serviceaccount:quorate-system:default","groups":["system:serviceaccounts:quorate-system"]}`, false},
		{"its name as a group", `{"username":"alice","groups":["system:serviceaccount:quorate-system:quorate-controller"]}`, false},
		{"its name as an extra", `{"username":"alice","extra":{"username":["system:serviceaccount:quorate-system:quorate-controller"]}}`, false},
		{"a cluster admin", `{"username":"root","groups":["system:masters"]}`, false},
		{"nobody", `{}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			response := f.ask(t, reviewOf(fields{"userInfo": tt.user}))
			f.judge.last(t)
			if got := f.judge.as[0]; got != tt.exempt {
				t.Errorf("judged as the controller: %t, want %t", got, tt.exempt)
			}
			want := ""
			count := 0.0
			if tt.exempt {
				want, count = controller, 1
			}
			if got := response.AuditAnnotations["exempt"]; got != want {
				t.Errorf("audit annotation exempt is %q, want %q", got, want)
			}
			if got := testutil.ToFloat64(f.options.Metrics.exemptions); got != count {
				t.Errorf("%v exemptions counted, want %v", got, count)
			}
		})
	}
}

// The exemption is from some rules, not from the gate.
func TestControllerIsJudged(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = denying(blocked)
	response := f.ask(t, reviewOf(fields{"userInfo": fmt.Sprintf(`{"username":%q}`, controller)}))
	if response.Allowed || response.AuditAnnotations["rules"] != "scale-out-blocked" {
		t.Errorf("allowed=%t, audit %v", response.Allowed, response.AuditAnnotations)
	}
}
