//go:build crash

package restored

import (
	"fmt"
	"testing"
)

// drawn is how many points a run of the matrix has, QUORATE_CRASH_COUNT other ones.
const drawn = 24

// TestCrashMatrix restores a cluster over and over, while the manager's container is killed,
// its pod deleted, its node or a control plane without power for a moment, an answer lost or
// the store away: before, at or after a call that is drawn by a seed. Every restore ends, or
// has changed nothing. There never are two etcds that answer, no node is wiped before a
// verified copy is in the store, and none more often than is told.
//
// covers: C-10, C-15, C-16, C-20, C-25, C-26
func TestCrashMatrix(t *testing.T) { crashes(t, drawn) }

// orders are all orders of three.
var orders = [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}

// TestCrashMatrixOfSkew has the control planes wipe in each order, and boot in the same one
// and in the opposite.
//
// covers: C-13
func TestCrashMatrixOfSkew(t *testing.T) {
	sum := 0
	for i, wipe := range orders {
		for _, reboot := range [][3]int{wipe, orders[len(orders)-1-i]} {
			t.Run(fmt.Sprint(wipe, reboot), func(t *testing.T) { sum += skewed(t, wipe, reboot) })
		}
	}
	t.Logf("%d restores, %d extra wipes in all", 2*len(orders), sum)
}
