package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/siderolabs/talos/pkg/machinery/constants"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
)

// promotable are the volumes that a machine's configuration may move from EPHEMERAL
// to partitions of their own, as far as a rewind concerns them. The last three have no
// constants in the API's module.
var promotable = []string{constants.EtcdDataVolumeID, "CRI", "KUBELET", "LOG"}

// Volumes are those besides EPHEMERAL that a restore has to wipe, sorted: the
// promotable ones that are partitions here. It is ErrNotReady while one of those, or
// EPHEMERAL itself, is not located on a disk yet: a reset would fail on it.
func (r *Restorer) Volumes(ctx context.Context) ([]string, error) {
	const doing = "list the volumes"
	all, err := ask(ctx, r.client, r.timeouts.Read, doing, r.volumes)
	if err != nil {
		return nil, err
	}
	found, err := apart(all)
	if err != nil {
		return nil, r.explain(doing, ErrNotReady, err)
	}
	return found, nil
}

// apart are the promotable volumes that are partitions, sorted; an error tells of one that
// has no place yet.
func apart(all []*block.VolumeStatus) ([]string, error) {
	found := []string{}
	for _, v := range all {
		id, is := v.Metadata().ID(), v.TypedSpec()
		own := slices.Contains(promotable, id) && is.Type == block.VolumeTypePartition
		if (own || id == constants.EphemeralPartitionLabel) && is.Location == "" {
			return nil, fmt.Errorf("%s is %s", id, is.Phase)
		}
		if own {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	return found, nil
}

// volumes have EPHEMERAL among them, which each machine has: a list without it is not
// whole.
func (r *Restorer) volumes(ctx context.Context) ([]*block.VolumeStatus, error) {
	stream, err := r.state.List(ctx, &cosi.ListRequest{Namespace: string(block.NamespaceName), Type: string(block.VolumeStatusType), Options: &cosi.ListOptions{}})
	if err != nil {
		return nil, err
	}
	var all []*block.VolumeStatus
	for {
		answer, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		one, err := decoded[*block.VolumeStatus](answer.GetResource())
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	if !slices.ContainsFunc(all, func(v *block.VolumeStatus) bool { return v.Metadata().ID() == constants.EphemeralPartitionLabel }) {
		return nil, errEmpty
	}
	return all, nil
}
