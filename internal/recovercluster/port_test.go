package recovercluster

import (
	"slices"
	"testing"
)

// The plan warns of an etcd that cannot be reached, and says whether it runs.
//
// covers: C-38
func TestPort(t *testing.T) {
	const wants = " Port 2379 has to be reached from here: without it nothing proves that etcd is recovered, and the restore pauses."
	r, n := world(t)
	for _, tt := range []struct {
		shut, up bool
		want     []string
	}{
		{false, false, nil},
		{true, false, []string{"The etcd of node-192.0.2.11 cannot be reached from here, as long as it is down in any case: dial: etcd cannot be reached." + wants}},
		{true, true, []string{"The etcd of node-192.0.2.11 runs healthy by its machine API, and cannot be reached from here: dial: etcd cannot be reached." + wants}},
	} {
		n.shut["192.0.2.11"], n.up["192.0.2.11"] = tt.shut, tt.up
		plan, err := r.Prepare(t.Context())
		must(t, err)
		if !slices.Equal(plan.Warnings, tt.want) {
			t.Errorf("shut %t, up %t: got %q, want %q", tt.shut, tt.up, plan.Warnings, tt.want)
		}
	}
	n.shut["192.0.2.11"], n.up["192.0.2.11"] = false, false
	plan, err := r.Prepare(t.Context())
	must(t, err)
	must(t, r.begin(t.Context(), plan, "the controller that died"))
	n.shut["192.0.2.11"] = true
	plan, err = r.Prepare(t.Context())
	if err != nil || !plan.GoesOn || len(plan.Warnings) != 1 {
		t.Errorf("going on: %v, %+v", err, plan)
	}
}
