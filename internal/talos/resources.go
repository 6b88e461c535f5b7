package talos

import (
	"context"
	"fmt"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
)

// Hostname is the node's short name, which is its etcd member's name, and its
// domain, which is often empty.
func (c *client) Hostname(ctx context.Context) (name, domain string, err error) {
	status, err := get(ctx, c, "read the hostname",
		network.NewHostnameStatus(network.NamespaceName, network.HostnameID))
	if err != nil {
		return "", "", err
	}
	return status.TypedSpec().Hostname, status.TypedSpec().Domainname, nil
}

// NodeName is the name of the node's Node in Kubernetes.
func (c *client) NodeName(ctx context.Context) (string, error) {
	name, err := get(ctx, c, "read the name of the Node", k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID))
	if err != nil {
		return "", err
	}
	return name.TypedSpec().Nodename, nil
}

// MemberID is the ID of the node's own etcd member. It is ErrNotFound while that is
// not healthy, so that its absence says nothing of membership.
func (c *client) MemberID(ctx context.Context) (uint64, error) {
	const doing = "read the ID of the node's own member"
	member, err := get(ctx, c, doing, etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID))
	if err != nil {
		return 0, err
	}
	id, err := etcd.ParseMemberID(member.TypedSpec().MemberID)
	if err != nil {
		return 0, c.explain(doing, ErrFailed, err)
	}
	return id, nil
}

// VerifyCluster fails with ErrOtherCluster if the node names another Talos cluster
// than the bundle's.
func (c *client) VerifyCluster(ctx context.Context) error {
	const doing = "read the ID of the Talos cluster"
	info, err := get(ctx, c, doing, cluster.NewInfo())
	if err != nil {
		return err
	}
	if got, want := info.TypedSpec().ClusterID, c.bundle.ClusterID(); got != want {
		return c.explain(doing, ErrOtherCluster, fmt.Errorf("it is %s, and the bundle's is %s", got, want))
	}
	return nil
}

// get reads the resource that has the type and name of which.
func get[R resource.Resource](ctx context.Context, c *client, doing string, which R) (R, error) {
	return ask(ctx, c, c.timeouts.Read, doing, func(ctx context.Context) (R, error) {
		m := which.Metadata()
		answer, err := c.state.Get(ctx, &cosi.GetRequest{Namespace: m.Namespace(), Type: m.Type(), Id: m.ID(), Options: &cosi.GetOptions{}})
		if err != nil {
			return which, err
		}
		return decoded[R](answer.GetResource())
	})
}

func decoded[R resource.Resource](sent *cosi.Resource) (found R, err error) {
	raw, err := protobuf.Unmarshal(sent)
	if err != nil {
		return found, err
	}
	read, err := protobuf.UnmarshalResource(raw)
	if err != nil {
		return found, err
	}
	found, ok := read.(R)
	if !ok {
		return found, fmt.Errorf("%s is a %T", read.Metadata(), read)
	}
	return found, nil
}
