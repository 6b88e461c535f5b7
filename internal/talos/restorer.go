package talos

import (
	"context"

	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// Restorer is a client of one node with what backups and a restore need: all that
// every client has, and what wipes a node and founds its etcd anew. It is safe for use
// by many at once.
type Restorer struct{ *client }

// NewRestorer makes a client that connects when it is first used, by default as
// [Admin]; an error is one of the options or of the bundle's authority.
func NewRestorer(b *Bundle, o Options) (*Restorer, error) {
	if o.Role == "" {
		o.Role = Admin
	}
	c, err := newClient(b, o, restoreMethods)
	if err != nil {
		return nil, err
	}
	return &Restorer{c}, nil
}

// Reset wipes EPHEMERAL and the volumes, which are those of [Restorer.Volumes], and
// reboots the node, without leaving etcd first. It returns when the node has begun:
// what goes wrong from there is told by the node's events alone, and so is a second
// reset while the first runs. Another boot ID is the only proof. After an error it is
// open whether it happens.
func (r *Restorer) Reset(ctx context.Context, volumes []string) error {
	request := &machine.ResetRequest{Reboot: true, Mode: machine.ResetRequest_SYSTEM_DISK}
	for _, label := range append([]string{constants.EphemeralPartitionLabel}, volumes...) {
		request.SystemPartitionsToWipe = append(request.SystemPartitionsToWipe, &machine.ResetPartitionSpec{Label: label, Wipe: true})
	}
	_, err := ask(ctx, r.client, r.timeouts.Reset, "reset the node", func(ctx context.Context) (*machine.Reset, error) {
		answer, err := r.machine.Reset(ctx, request)
		if err != nil {
			return nil, err
		}
		return only(answer.GetMessages())
	})
	return err
}

// Bootstrap has the node found a cluster of its own member alone from the snapshot that
// [Restorer.Recover] brought. It is ErrNotReady until the node has its container
// runtime and the time, and ErrHasData if there is anything in etcd's directory, which
// does not mean that it was recovered. It returns before the node restores: a reboot in
// between loses the request, and only etcd itself shows a success.
func (r *Restorer) Bootstrap(ctx context.Context) error {
	_, err := ask(ctx, r.client, r.timeouts.Bootstrap, "found etcd from the snapshot", func(ctx context.Context) (*machine.Bootstrap, error) {
		answer, err := r.machine.Bootstrap(ctx, &machine.BootstrapRequest{RecoverEtcd: true})
		if err != nil {
			return nil, err
		}
		return only(answer.GetMessages())
	})
	return err
}

// kubeletService is the service's name.
const kubeletService = "kubelet"

// RestartKubelet returns when the node's kubelet runs anew; its pods go on.
func (r *Restorer) RestartKubelet(ctx context.Context) error {
	_, err := ask(ctx, r.client, r.timeouts.Restart, "restart the kubelet", func(ctx context.Context) (*machine.ServiceRestart, error) {
		answer, err := r.machine.ServiceRestart(ctx, &machine.ServiceRestartRequest{Id: kubeletService})
		if err != nil {
			return nil, err
		}
		return only(answer.GetMessages())
	})
	return err
}
