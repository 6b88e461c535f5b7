package talos

import (
	"context"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
)

// sequenceEvent waits for an event with an error.
func sequenceEvent(t *testing.T, n *Node, actor string, do func()) *machine.SequenceEvent {
	t.Helper()
	ctx := within(t, time.Minute)
	events := make(chan client.EventResult, 100)
	must(t, admin(t, n).EventsWatchV2(ctx, events, client.WithTailEvents(-1), client.WithActorID(actor)))
	do()
	for {
		select {
		case <-ctx.Done():
			t.Fatalf("no event with an error came: %v", context.Cause(ctx))
		case e := <-events:
			must(t, e.Error)
			if s, ok := e.Event.Payload.(*machine.SequenceEvent); ok && s.Error != nil {
				return s
			}
		}
	}
}

// TestSecondResetIsLocked: it answers OK, and an event says that it did not start.
func TestSecondResetIsLocked(t *testing.T) {
	n := shared.Node("worker-1")
	n.SetTiming(func(timing *Timing) { timing.Skew = 3 * time.Second })
	defer n.SetTiming(func(timing *Timing) { timing.Skew = 50 * time.Millisecond })
	before := n.BootID()
	must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), ephemeral(false)))
	until(t, "the first reset to have begun", func() bool {
		b, err := n.current()
		must(t, err)
		return b.events.tail(0) > 0
	})
	event := sequenceEvent(t, n, "", func() {
		must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), ephemeral(false)))
	})
	if e := event.Error; e.Code != common.Code_LOCKED || e.Message != "sequence not started: locked" || event.Sequence != "reset" {
		t.Errorf("the event is %v", event)
	}
	rebooted(t, n, before)
}

// TestRebootTakesOver: a reset that has not wiped yet ends at a reboot.
func TestRebootTakesOver(t *testing.T) {
	n := shared.Node("worker-1")
	mark(t, n)
	n.SetTiming(func(timing *Timing) { timing.Skew = time.Hour })
	defer n.SetTiming(func(timing *Timing) { timing.Skew = 50 * time.Millisecond })
	before := n.BootID()
	must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), ephemeral(false)))
	must(t, admin(t, n).Reboot(within(t, 10*time.Second)))
	rebooted(t, n, before)
	if got := marked(n); got != "EPHEMERAL STATE META " {
		t.Errorf("left are %s", got)
	}
}

// TestTakesOver: which sequence ends which.
func TestTakesOver(t *testing.T) {
	for _, c := range []struct {
		next, running sequence
		want          bool
	}{
		{sequenceReset, "", true}, {sequenceReset, sequenceReset, false}, {sequenceReset, sequenceReboot, false},
		{sequenceReboot, sequenceReset, true}, {sequenceReboot, sequenceReboot, true}, {sequenceShutdown, sequenceReset, true},
		{sequenceReboot, sequenceShutdown, false}, {sequenceShutdown, sequenceReboot, true},
	} {
		if got := takesOver(c.next, c.running); got != c.want {
			t.Errorf("%s over %q: %v", c.next, c.running, got)
		}
	}
}
