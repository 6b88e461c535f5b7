package recovercluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/etcd"
)

// portTimeout bounds asking whether the target's etcd can be reached.
const portTimeout = 15 * time.Second

// port warns where the etcd of the target, at its address, cannot be reached from here. As
// long as it is down that says little; later the restore cannot go on without.
func (r *Recovery) port(ctx context.Context, target, address string) []string {
	ctx, cancel := context.WithTimeout(ctx, portTimeout)
	defer cancel()
	_, err := r.Etcd.Probe(ctx, address)
	return r.shut(ctx, target, address, err)
}

// shut is the warning that follows from the answer to such a probe.
func (r *Recovery) shut(ctx context.Context, target, address string, probed error) []string {
	if !errors.Is(probed, etcd.ErrUnreached) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, portTimeout)
	defer cancel()
	const wants = "Port 2379 has to be reached from here: without it nothing proves that etcd is recovered, and the restore pauses."
	if r.service(ctx, address).Healthy {
		return []string{fmt.Sprintf("The etcd of %s runs healthy by its machine API, and cannot be reached from here: %s. %s", target, probed, wants)}
	}
	return []string{fmt.Sprintf("The etcd of %s cannot be reached from here, as long as it is down in any case: %s. %s", target, probed, wants)}
}

// service is what the machine API says of a node's etcd; nothing if it does not answer.
func (r *Recovery) service(ctx context.Context, address string) restoring.Service {
	node, err := r.Nodes.Node(address)
	if err != nil {
		return restoring.Service{}
	}
	is, err := node.EtcdService(ctx)
	if err != nil {
		return restoring.Service{}
	}
	return is
}
