package talos

import (
	"context"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"google.golang.org/grpc/codes"

	"github.com/quorate/quorate/test/cluster"
)

// TestOnlyControlPlane: what a cluster of one refuses, and how a reset that cannot
// leave ends: in an event, and in a reboot without a wipe.
func TestOnlyControlPlane(t *testing.T) {
	c, err := Start(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle(), Timing: Timing{Skew: time.Second}})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	n := c.Node("cp-1")
	_, err = admin(t, n).EtcdForfeitLeadership(within(t, 10*time.Second), &machine.EtcdForfeitLeadershipRequest{})
	answers(t, err, codes.Unknown, "failed to forfeit leadership: cannot forfeit leadership, only one member")
	mark(t, n)
	t.Run("a graceful reset fails", func(t *testing.T) {
		before := n.BootID()
		event := sequenceEvent(t, n, "", func() {
			must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), ephemeral(true)))
		})
		if e := event.Error; e.Code != common.Code_FATAL {
			t.Errorf("the event is %v", event)
		}
		rebooted(t, n, before)
		if got := marked(n); got != "EPHEMERAL STATE META " {
			t.Errorf("left are %s", got)
		}
		whole(t, c)
	})
	t.Run("no partition is the whole disk", func(t *testing.T) {
		must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), &machine.ResetRequest{}))
		must(t, cluster.Until(t.Context(), "the machine to be off", func(context.Context) error { _, err := n.current(); return not(err) }))
		n.work.Wait()
		if got := marked(n); got != "" || hasData(t, n) {
			t.Errorf("left are %s", got)
		}
		must(t, n.PowerOn())
		if id := n.BootID(); id != "" {
			t.Errorf("a machine without a configuration serves: %s", id)
		}
		n.PowerOff()
		must(t, n.Reinstall())
		must(t, n.PowerOn())
		until(t, "the new machine to be Preparing", func() bool { return n.Service("etcd") == "Preparing" })
	})
}
