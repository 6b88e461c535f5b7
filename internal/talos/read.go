package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	cosi "github.com/cosi-project/runtime/api/v1alpha1"
	"github.com/cosi-project/runtime/pkg/resource"
	"github.com/cosi-project/runtime/pkg/resource/protobuf"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Version is the node's Talos version, as "v1.13.9": the cheapest sign of life.
func (n *Node) Version(ctx context.Context) (string, error) {
	return ask(ctx, n, n.timeouts.Read, "read the Talos version", func(ctx context.Context) (string, error) {
		answer, err := n.machine.Version(ctx, &emptypb.Empty{})
		if err != nil {
			return "", err
		}
		if len(answer.GetMessages()) == 0 {
			return "", errEmpty
		}
		return answer.GetMessages()[0].GetVersion().GetTag(), nil
	})
}

// bootIDPath holds a random ID that the kernel makes at each boot.
const bootIDPath = "/proc/sys/kernel/random/boot_id"

// BootID changes with each boot. It needs Admin: Talos gives files to no other role,
// and no resource has it.
func (n *Node) BootID(ctx context.Context) (string, error) {
	return ask(ctx, n, n.timeouts.Read, "read the boot ID", func(ctx context.Context) (string, error) {
		stream, err := n.machine.Read(ctx, &machine.ReadRequest{Path: bootIDPath})
		if err != nil {
			return "", err
		}
		var id strings.Builder
		for {
			data, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return strings.TrimSpace(id.String()), nil
			}
			if err != nil {
				return "", err
			}
			id.Write(data.GetBytes())
		}
	})
}

// Hostname is the node's short name, which is its etcd member's name, and its
// domain, which is often empty.
func (n *Node) Hostname(ctx context.Context) (name, domain string, err error) {
	status, err := get[*network.HostnameStatus](ctx, n, "read the hostname",
		network.NewHostnameStatus(network.NamespaceName, network.HostnameID))
	if err != nil {
		return "", "", err
	}
	return status.TypedSpec().Hostname, status.TypedSpec().Domainname, nil
}

// NodeName is the name of the node's Node in Kubernetes.
func (n *Node) NodeName(ctx context.Context) (string, error) {
	name, err := get[*k8s.Nodename](ctx, n, "read the name of the Node", k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID))
	if err != nil {
		return "", err
	}
	return name.TypedSpec().Nodename, nil
}

// MemberID is the ID of the node's own etcd member. It is ErrNotFound while that is
// not healthy, so that its absence says nothing of membership.
func (n *Node) MemberID(ctx context.Context) (uint64, error) {
	const doing = "read the ID of the node's own member"
	member, err := get[*etcd.Member](ctx, n, doing, etcd.NewMember(etcd.NamespaceName, etcd.LocalMemberID))
	if err != nil {
		return 0, err
	}
	id, err := etcd.ParseMemberID(member.TypedSpec().MemberID)
	if err != nil {
		return 0, n.explain(doing, ErrFailed, err)
	}
	return id, nil
}

// VerifyCluster fails with ErrOtherCluster if the node names another Talos cluster
// than the bundle's.
func (n *Node) VerifyCluster(ctx context.Context) error {
	const doing = "read the ID of the Talos cluster"
	info, err := get[*cluster.Info](ctx, n, doing, cluster.NewInfo())
	if err != nil {
		return err
	}
	if got, want := info.TypedSpec().ClusterID, n.bundle.ClusterID(); got != want {
		return n.explain(doing, ErrOtherCluster, fmt.Errorf("it is %s, and the bundle's is %s", got, want))
	}
	return nil
}

// errEmpty is an answer without a message in it, which no Talos gives.
var errEmpty = errors.New("the answer is empty")

// get reads the resource of which which has the name.
func get[R resource.Resource](ctx context.Context, n *Node, doing string, which resource.Resource) (R, error) {
	return ask(ctx, n, n.timeouts.Read, doing, func(ctx context.Context) (found R, err error) {
		m := which.Metadata()
		answer, err := n.state.Get(ctx, &cosi.GetRequest{Namespace: m.Namespace(), Type: m.Type(), Id: m.ID(), Options: &cosi.GetOptions{}})
		if err != nil {
			return found, err
		}
		raw, err := protobuf.Unmarshal(answer.GetResource())
		if err != nil {
			return found, err
		}
		read, err := protobuf.UnmarshalResource(raw)
		if err != nil {
			return found, err
		}
		found, ok := read.(R)
		if !ok {
			return found, fmt.Errorf("%s is a %T", m, read)
		}
		return found, nil
	})
}
