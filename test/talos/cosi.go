package talos

import (
	"context"
	"fmt"

	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/cosi-project/runtime/pkg/state/impl/inmem"
	"github.com/cosi-project/runtime/pkg/state/impl/namespaced"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func newResources() state.State { return state.WrapCore(namespaced.NewState(inmem.Build)) }

// readOnly is what the API shows of the resources: nobody writes through it.
func readOnly(resources state.State) state.CoreState {
	return state.Filter(resources, func(_ context.Context, access state.Access) error {
		if access.Verb.Readonly() {
			return nil
		}
		return status.Error(codes.PermissionDenied, "resources are read-only")
	})
}

// describe creates the resources that a boot has from its start.
func (b *boot) describe(ctx context.Context) error {
	resources := []resource.Resource{b.node.hostname(), b.node.nodename(), b.node.info()}
	for _, v := range b.node.disk.volumes() {
		resources = append(resources, v)
	}
	for _, r := range resources {
		if err := b.resources.Create(ctx, r); err != nil {
			return fmt.Errorf("create the resource %s: %w", r.Metadata().ID(), err)
		}
	}
	return b.readMeta(ctx)
}

func (n *Node) hostname() *network.HostnameStatus {
	r := network.NewHostnameStatus(network.NamespaceName, network.HostnameID)
	r.TypedSpec().Hostname = n.Name
	r.TypedSpec().Domainname = n.cluster.options.Domain
	return r
}

func (n *Node) nodename() *k8s.Nodename {
	r := k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID)
	r.TypedSpec().Nodename = n.NodeName()
	return r
}

// publishMember shows the local member, as etcd's controller does once the service
// is healthy.
func (b *boot) publishMember(ctx context.Context, id uint64) error {
	member := etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID)
	return safe.StateModify(ctx, b.resources, member, func(m *etcd.Member) error {
		m.TypedSpec().MemberID = etcd.FormatMemberID(id)
		return nil
	})
}

// hideMember takes the local member away, as while etcd is not healthy.
func (b *boot) hideMember(ctx context.Context) error {
	err := b.resources.Destroy(ctx, etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID).Metadata())
	if state.IsNotFoundError(err) {
		return nil
	}
	return err
}
