package restoring

import (
	"testing"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

// A target with data whose etcd gives no answer is wiped only on the word of its machine
// API: one that runs a healthy etcd there is left as it is, and a person is told.
//
// covers: C-15
func TestSecondWitness(t *testing.T) {
	const refused = "dial 192.0.2.1:2379: connection refused"
	member := []guard.Member{{ID: 1, Name: "cp-a", Started: true}}
	healthy := &Service{State: "Running", Healthy: true, MemberID: 1, Members: member}
	const says = "; its machine API says that etcd is Running and healthy, with the members cp-a"
	const left = "The etcd on cp-a cannot be asked whether it is the recovered one: " + refused + says +
		". It is not wiped for that: see that port 2379 of cp-a is reached from where the restore runs, or run the command where it is."
	for _, tt := range []struct {
		name          string
		seen          Seen
		ago           time.Duration // since the request to recover; 0 for none
		failure, note string
	}{
		{"healthy, in its time", Seen{Service: healthy}, time.Minute, "", "etcd on cp-a has data and has yet to prove that it is recovered: " + refused + says},
		{"healthy", Seen{Service: healthy}, 5 * time.Minute, left, ""},
		{"healthy, and the request is not known any more", Seen{Service: healthy}, 0, left, ""},
		{"of another member", Seen{Service: &Service{State: "Running", Healthy: true, MemberID: 2, Members: member}}, 5 * time.Minute, "",
			"wiping cp-a (it has data and no recovered etcd: " + refused + says + "); cp-a was asked at 12:00:00 and has etcd data still"},
		{"failed", Seen{Service: &Service{State: "Failed", Says: "hash mismatch"}}, 5 * time.Minute, "",
			"wiping cp-a (it has data and no recovered etcd: " + refused + "; its machine API says that etcd is Failed: hash mismatch); cp-a was asked at 12:00:00 and has etcd data still"},
		{"not there", Seen{Service: &Service{State: "not there"}}, 0, "", "wiping cp-a (it has rebooted and has etcd data again)"},
		{"nobody says", Seen{Unheard: "timeout"}, 5 * time.Minute, "", "cp-a has etcd data, and neither its etcd nor its machine API says how etcd is: " + refused + "; timeout"},
		{"nobody says, and the request is not known any more", Seen{Unheard: "timeout"}, 0, "", "cp-a has etcd data, and neither its etcd nor its machine API says how etcd is: " + refused + "; timeout"},
		{"etcd itself says that it is an old one", Seen{Etcd: etcdOf(12, "cp-a")}, 5 * time.Minute, "",
			"wiping cp-a (it has data and no recovered etcd (it answers at revision 12)); cp-a was asked at 12:00:00 and has etcd data still"},
	} {
		s, seen := started(v1alpha1.StepRecovering), empties()
		if tt.ago > 0 {
			s.BootstrapAt, s.BootstrapBoot = before(tt.ago), "2"
		}
		tt.seen.BootID, tt.seen.Data = "2", true
		if tt.seen.Etcd == nil {
			tt.seen.Ill = refused
		}
		seen["cp-a"] = tt.seen
		d := Next(s, Observation{Nodes: seen}, noon, Limits{})
		if d.State.Failure != tt.failure || d.Note != tt.note || tt.failure != "" && len(d.Acts) > 0 {
			t.Errorf("%s: got failure %q, note %q, acts %v;\nwant %q, %q", tt.name, d.State.Failure, d.Note, d.Acts, tt.failure, tt.note)
		}
	}
}

// Neither is an etcd given up that another one's machine API calls healthy.
func TestForsakenByItsMachine(t *testing.T) {
	for _, tt := range []struct {
		service *Service
		step    v1alpha1.RestoreStep
	}{
		{nil, v1alpha1.StepRejoining},
		{&Service{State: "Running", Healthy: true}, v1alpha1.StepRejoining},
		{&Service{State: "Running"}, v1alpha1.StepWiping},
	} {
		s, err := started(v1alpha1.StepRejoining).LeaveOut([]string{"cp-a"}, noon.Add(-time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]Seen{"cp-b": {BootID: "2", Data: true, Ill: "no leader", Service: tt.service}, "cp-c": {BootID: "2"}}
		if d := Next(s, Observation{Nodes: seen}, noon, Limits{}); d.State.Step != tt.step {
			t.Errorf("%+v: got %s, %q; want %s", tt.service, d.State.Step, d.Note, tt.step)
		}
	}
}
