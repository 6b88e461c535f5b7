package talos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// Reset validates, answers with an actor ID and runs behind the answer. Whatever goes
// wrong from then on, a second Reset that is not even started included, is told by
// events alone.
func (a *api) Reset(_ context.Context, in *machine.ResetRequest) (*machine.ResetResponse, error) {
	labels, err := a.boot.node.disk.toWipe(in)
	if err != nil {
		return nil, err
	}
	actor := a.boot.sequence(sequenceReset, func(ctx context.Context) error {
		return a.boot.reset(ctx, in, labels)
	})
	return &machine.ResetResponse{Messages: []*machine.Reset{{ActorId: actor}}}, nil
}

// toWipe decides which partitions a reset empties: those that are named, and all of
// the system disk if none is. What is a partition of its own is not EPHEMERAL's.
func (d disk) toWipe(in *machine.ResetRequest) (labels []string, err error) {
	if len(in.UserDisksToWipe) > 0 {
		if in.Mode == machine.ResetRequest_SYSTEM_DISK {
			return nil, errors.New("reset failed: invalid input, wipe mode SYSTEM_DISK doesn't support UserDisksToWipe parameter")
		}
		return nil, fmt.Errorf("reset user disk failed: device %s wasn't found", in.UserDisksToWipe[0])
	}
	if len(in.SystemPartitionsToWipe) > 0 && in.Mode == machine.ResetRequest_USER_DISKS {
		return nil, errors.New("reset failed: invalid input, wipe mode USER_DISKS doesn't support SystemPartitionsToWipe parameter")
	}
	for _, partition := range in.SystemPartitionsToWipe {
		device, err := d.wipable(in, partition.Label)
		if err != nil {
			return nil, err
		}
		if partition.Wipe && device {
			labels = append(labels, partition.Label)
		}
	}
	if in.Mode == machine.ResetRequest_USER_DISKS {
		return nil, nil
	}
	if len(labels) == 0 {
		return d.partitions(), nil
	}
	return labels, nil
}

// wipable tells whether a volume that a Reset names has a device to wipe. A directory has
// none: it goes with the volume that it lives on, which has to be named beside it. (Talos
// 1.13 refuses it even so, and 1.14 does not.)
func (d disk) wipable(in *machine.ResetRequest, label string) (device bool, err error) {
	if slices.Contains(d.partitions(), label) {
		return true, nil
	}
	if !isPromotable(label) {
		return false, fmt.Errorf("failed to get volume status with label %q: resource VolumeStatuses.block.talos.dev(runtime/%s@undefined) doesn't exist", label, label)
	}
	with := func(s *machine.ResetPartitionSpec) bool {
		return s.Label == constants.EphemeralPartitionLabel && s.Wipe
	}
	if !slices.ContainsFunc(in.SystemPartitionsToWipe, with) {
		return false, fmt.Errorf("failed to reset: volume %q is not located", label)
	}
	return false, nil
}

// reset leaves etcd if it is graceful, stops everything, wipes, and reboots or stays
// off.
func (b *boot) reset(ctx context.Context, in *machine.ResetRequest, labels []string) error {
	if err := b.beforeReset(ctx, in.Graceful); err != nil {
		return err
	}
	wipe := func() error { return b.node.disk.wipe(labels...) }
	if in.Reboot {
		return b.node.cycle(b, wipe)
	}
	return b.node.switchOff(b, wipe)
}

// beforeReset is what a loss of power ends.
func (b *boot) beforeReset(ctx context.Context, graceful bool) error {
	ctx, cancel := b.while(ctx)
	defer cancel()
	if err := pause(ctx, b.node.Timing().Skew); err != nil {
		return err
	}
	if !graceful || b.node.worker {
		return nil
	}
	return b.leaveForReset(ctx)
}

// leaveForReset leaves etcd if the node has a member and a service that is not still
// waiting to join.
func (b *boot) leaveForReset(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(b.node.disk.etcd(), "member")); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if !slices.Contains([]string{stateRunning, stateStopping, stateFailed}, b.services.find(etcdServiceID).is()) {
		return nil
	}
	return b.leave(ctx)
}
