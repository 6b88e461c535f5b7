package talos

import (
	"bytes"
	"context"
	"errors"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/siderolabs/talos/pkg/machinery/resources/config"
)

// ConfigStaged tells whether the node has stored another machine configuration than the
// one it runs with, so that it takes a reboot to get there. Talos has it so after one was
// applied in the mode "staged", and for the minute in which one is only tried
// (resources/config/machine_config.go). A node that has stored none since it booted runs
// with what it has on disk. It needs Admin, since there are secrets in it; they are
// compared as they come, and not kept.
func (c *client) ConfigStaged(ctx context.Context) (bool, error) {
	const doing = "compare the stored machine configuration with the running one"
	stored, err := c.configuration(ctx, doing, config.PersistentID)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	running, err := c.configuration(ctx, doing, config.ActiveID)
	if err != nil {
		return false, err
	}
	return !bytes.Equal(stored, running), nil
}

func (c *client) configuration(ctx context.Context, doing string, id resource.ID) ([]byte, error) {
	return ask(ctx, c, c.timeouts.Read, doing, func(ctx context.Context) ([]byte, error) {
		answer, err := c.state.Get(ctx, &cosi.GetRequest{Namespace: config.NamespaceName, Type: config.MachineConfigType, Id: id, Options: &cosi.GetOptions{}})
		if err != nil {
			return nil, err
		}
		if spec := answer.GetResource().GetSpec().GetProtoSpec(); len(spec) > 0 {
			return spec, nil
		}
		return nil, errEmpty
	})
}
