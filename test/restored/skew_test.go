package restored

import (
	"testing"
	"time"

	sim "github.com/quorate/quorate/test/talos"
)

// Times that a control plane takes for the beginning of its wipe, and to boot: the scaled
// minutes of machines that differ.
var (
	lateWipes   = []time.Duration{0, 6 * time.Second, 12 * time.Second}
	longReboots = []time.Duration{0, 2 * time.Second, 6 * time.Second}
)

// Control planes take different times to wipe and to boot: the first is back while the
// others serve the old etcd still, and joins it. It converges, and the operation tells how
// many wipes that took.
//
// covers: C-13
func TestSkew(t *testing.T) {
	if told := skewed(t, [3]int{0, 1, 2}, [3]int{0, 1, 2}); told == 0 {
		t.Error("no control plane came back to the old etcd: the skew is none")
	}
}

// skewed has a restore with these times of the control planes, and answers the wipes beyond
// the first of each.
func skewed(t *testing.T, wipe, reboot [3]int) (told int) {
	t.Helper()
	for i, n := range shared.Talos.ControlPlanes() {
		was := n.Timing()
		n.SetTiming(func(t *sim.Timing) { t.Skew, t.Reboot = was.Skew+lateWipes[wipe[i]], was.Reboot+longReboots[reboot[i]] })
		defer n.SetTiming(func(t *sim.Timing) { *t = was })
	}
	began := time.Now()
	r, end := try(t, point{})
	told = extraWipes(r.last)
	if end != completed || told != r.door.wipes.extra() {
		t.Errorf("%s, with %d wipes beyond the first of each node, and %d are told of", end, r.door.wipes.extra(), told)
	}
	t.Logf("wipes begin in the order %v, boots end in %v: %d extra wipes, %s", wipe, reboot, told, time.Since(began).Round(time.Second))
	return told
}
