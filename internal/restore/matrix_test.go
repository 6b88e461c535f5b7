package restore

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// points are all calls of a restore without a fault.
func points(t *testing.T, own string) []string {
	p := newPlay()
	p.own = own
	p.run(t)
	p.check(t)
	slices.Sort(p.calls.points)
	return p.calls.points
}

// kinds are what can go wrong at a point.
func kinds(point string) []string {
	all := []string{"before", "after", "lost", "away", "reboot:cp-a", "reboot:cp-b", "reboot:cp-c"}
	if strings.HasPrefix(point, "folder/") {
		return slices.DeleteFunc(all, func(k string) bool { return k == "away" })
	}
	return all
}

// Every call of the whole restore is where the process dies, before it and after it, and
// is started again in its pod or comes back as another one without a folder; where the
// answer is lost, the store goes away for a minute, and each node reboots.
//
// covers: C-15, C-20, C-26
func TestCrashMatrix(t *testing.T) {
	for _, own := range []string{"", "cp-b"} {
		for _, podLost := range []bool{false, true} {
			t.Run(fmt.Sprintf("own %q, pod lost %t", own, podLost), func(t *testing.T) {
				t.Parallel()
				matrix(t, own, podLost)
			})
		}
	}
}

func matrix(t *testing.T, own string, podLost bool) {
	all := points(t, own)
	runs, persons, extra, longest := 0, 0, 0, newPlay()
	for _, point := range all {
		for _, kind := range kinds(point) {
			dies := kind == "before" || kind == "after" || own != "" && kind == "reboot:"+own
			if podLost && !dies {
				continue // the same as with the pod
			}
			p := newPlay()
			p.own, p.podLost, p.fault = own, podLost, fault{point, kind}
			p.run(t)
			p.check(t)
			if !p.calls.fired {
				t.Errorf("%s: the point was not reached", p.named())
			}
			runs++
			persons += p.persons
			extra += p.result.Marker.ExtraWipes
			if longest.w == nil || p.w.at.Sub(p.began) > longest.w.at.Sub(longest.began) {
				longest = p
			}
		}
	}
	t.Logf("%d points, %d runs, %d of them ended by a person's command, %d extra wipes; the longest took %s: %s",
		len(all), runs, persons, extra, longest.w.at.Sub(longest.began), longest.named())
}
