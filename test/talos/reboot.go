package talos

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/siderolabs/talos/pkg/machinery/api/common"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
)

// Reboot answers with an actor ID and then reboots.
func (a *api) Reboot(context.Context, *machine.RebootRequest) (*machine.RebootResponse, error) {
	actor := a.boot.sequence(sequenceReboot, func(context.Context) error {
		return a.boot.node.cycle(a.boot, nil)
	})
	return &machine.RebootResponse{Messages: []*machine.Reboot{{ActorId: actor}}}, nil
}

// Shutdown answers with an actor ID and then switches the machine off.
func (a *api) Shutdown(context.Context, *machine.ShutdownRequest) (*machine.ShutdownResponse, error) {
	actor := a.boot.sequence(sequenceShutdown, func(context.Context) error {
		return a.boot.node.switchOff(a.boot, nil)
	})
	return &machine.ShutdownResponse{Messages: []*machine.Shutdown{{ActorId: actor}}}, nil
}

// sequence runs something that its caller does not wait for, and answers the actor ID
// of the events that tell of it.
func (b *boot) sequence(s sequence, do func(ctx context.Context) error) (actor string) {
	actor = uuid.NewString()
	b.behind(func(ctx context.Context) error {
		ctx, finish, err := b.sequences.begin(ctx, s)
		if err != nil {
			return b.events.sequence(actor, s, machine.SequenceEvent_NOOP, common.Code_LOCKED, "sequence not started: "+err.Error())
		}
		defer finish()
		err = errors.Join(b.events.sequence(actor, s, machine.SequenceEvent_START, 0, ""), do(ctx))
		if err == nil || ctx.Err() != nil {
			return err
		}
		return b.failed(actor, s, err)
	})
	return actor
}

// failed tells of a sequence that failed. That is fatal to Talos's first process: the
// machine reboots as it is.
func (b *boot) failed(actor string, s sequence, failure error) error {
	err := b.events.sequence(actor, s, machine.SequenceEvent_NOOP, common.Code_FATAL, fmt.Sprintf("sequence failed: %s", failure))
	return errors.Join(err, b.node.cycle(b, nil))
}
