package talos

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/cosi-project/runtime/pkg/state"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"github.com/siderolabs/talos/pkg/machinery/resources/etcd"
	"github.com/siderolabs/talos/pkg/machinery/resources/k8s"
	"github.com/siderolabs/talos/pkg/machinery/resources/network"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
)

// TestRoleComesFromTheOrganization: who may call what, and the answer to all others.
func TestRoleComesFromTheOrganization(t *testing.T) {
	n := shared.Node("cp-1")
	calls := map[string]func(ctx context.Context, roles ...role.Role) error{
		"EtcdMemberList": func(ctx context.Context, roles ...role.Role) error {
			_, err := as(t, n, roles...).EtcdMemberList(ctx, &machine.EtcdMemberListRequest{})
			return err
		},
		"EtcdRemoveMemberByID": func(ctx context.Context, roles ...role.Role) error {
			return as(t, n, roles...).EtcdRemoveMemberByID(ctx, &machine.EtcdRemoveMemberByIDRequest{MemberId: 1})
		},
		"COSI Get": func(ctx context.Context, roles ...role.Role) error {
			_, err := safe.StateGetByID[*k8s.Nodename](ctx, as(t, n, roles...).COSI, k8s.NodenameID)
			return err
		},
	}
	for _, c := range []struct {
		call string
		role role.Role
		want codes.Code
	}{
		{"EtcdMemberList", role.Admin, codes.OK},
		{"EtcdMemberList", role.Operator, codes.OK},
		{"EtcdMemberList", role.Reader, codes.OK},
		{"EtcdMemberList", role.EtcdBackup, codes.OK},
		{"EtcdMemberList", role.MetaWriter, codes.PermissionDenied},
		{"EtcdRemoveMemberByID", role.Admin, codes.NotFound},
		{"EtcdRemoveMemberByID", role.Operator, codes.PermissionDenied},
		{"COSI Get", role.Reader, codes.OK},
		{"COSI Get", role.EtcdBackup, codes.PermissionDenied},
	} {
		err := calls[c.call](within(t, 10*time.Second), c.role)
		switch c.want {
		case codes.OK:
			must(t, err)
		case codes.PermissionDenied:
			answers(t, err, c.want, "not authorized")
		default:
			code(t, err, c.want)
		}
	}
}

// TestWrongAuthority: a client of another CA gets the code of a dead machine, and so
// does one whose certificate has expired.
func TestWrongAuthority(t *testing.T) {
	n := shared.Node("cp-1")
	other, err := newAuthority(nil)
	must(t, err)
	foreign, err := other.bundle.GenerateTalosAPIClientCertificate(role.MakeSet(role.Admin))
	must(t, err)
	expired, err := shared.authority.bundle.GenerateTalosAPIClientCertificateWithTTL(role.MakeSet(role.Admin), -time.Minute)
	must(t, err)
	_, err = with(t, n, foreign).Version(within(t, 5*time.Second))
	code(t, err, codes.Unavailable)
	_, err = with(t, n, expired).Version(within(t, 5*time.Second))
	code(t, err, codes.Unavailable)
}

// TestBundleReadBack: a bundle that was written as YAML makes certificates again.
func TestBundleReadBack(t *testing.T) {
	back, err := newAuthority(shared.Bundle())
	must(t, err)
	certificate, err := back.bundle.GenerateTalosAPIClientCertificate(role.MakeSet(role.Reader))
	must(t, err)
	version, err := with(t, shared.Node("worker-1"), certificate).Version(within(t, 5*time.Second))
	must(t, err)
	if tag := version.Messages[0].Version.Tag; tag != "v1.13.9" {
		t.Errorf("the version is %s", tag)
	}
}

// TestWorkerHasNoEtcd: calls for control planes are not there on a worker.
func TestWorkerHasNoEtcd(t *testing.T) {
	c := admin(t, shared.Node("worker-1"))
	_, err := c.EtcdMemberList(within(t, 5*time.Second), &machine.EtcdMemberListRequest{})
	answers(t, err, codes.Unimplemented, "member list is only available on control plane nodes")
	err = c.EtcdLeaveCluster(within(t, 5*time.Second), &machine.EtcdLeaveClusterRequest{})
	answers(t, err, codes.Unimplemented, "etcd leave is only available on control plane nodes")
	_, err = c.EtcdStatus(within(t, 5*time.Second))
	answers(t, err, codes.Unimplemented, "etcd status is only available on control plane nodes")
}

// TestUnknownCallIsUnimplemented: what is not modelled says so.
func TestUnknownCallIsUnimplemented(t *testing.T) {
	_, err := admin(t, shared.Node("cp-1")).Memory(within(t, 5*time.Second))
	answers(t, err, codes.Unimplemented, "method Memory not implemented")
}

// TestResources: what COSI has of a node.
func TestResources(t *testing.T) {
	n := shared.Node("cp-1")
	ctx, cosi := within(t, 10*time.Second), as(t, n, role.Reader).COSI
	hostname, err := safe.StateGetByID[*network.HostnameStatus](ctx, cosi, network.HostnameID)
	must(t, err)
	nodename, err := safe.StateGetByID[*k8s.Nodename](ctx, cosi, k8s.NodenameID)
	must(t, err)
	member, err := safe.StateGetByID[*etcd.Member](ctx, cosi, etcd.LocalMemberID)
	must(t, err)
	id, err := n.MemberID(ctx)
	must(t, err)
	if h, k := hostname.TypedSpec(), nodename.TypedSpec().Nodename; h.Hostname != "cp-1" || h.FQDN() != "cp-1.example.com" || k != "cp-1.example.com" {
		t.Errorf("the names are %+v and %s", h, k)
	}
	if got := member.TypedSpec().MemberID; got != etcd.FormatMemberID(id) || id == 0 {
		t.Errorf("the member is %s, want %d", got, id)
	}
	for _, label := range []string{"EPHEMERAL", "STATE", "META"} {
		volume, err := safe.StateGetByID[*block.VolumeStatus](ctx, cosi, label)
		must(t, err)
		if spec := volume.TypedSpec(); spec.Phase != block.VolumePhaseReady || spec.Location == "" {
			t.Errorf("%s is %+v", label, spec)
		}
	}
}

// TestResourcesAreReadOnly: even an administrator changes none.
func TestResourcesAreReadOnly(t *testing.T) {
	err := admin(t, shared.Node("cp-1")).COSI.Destroy(within(t, 5*time.Second), k8s.NewNodename(k8s.NamespaceName, k8s.NodenameID).Metadata())
	// COSI's client hides the status, not its text.
	if want := "rpc error: code = PermissionDenied desc = resources are read-only"; err == nil || err.Error() != want {
		t.Errorf("the answer is %v, want %s", err, want)
	}
}

// TestWorkerHasNoMember: the resource is absent there.
func TestWorkerHasNoMember(t *testing.T) {
	_, err := safe.StateGetByID[*etcd.Member](within(t, 5*time.Second), admin(t, shared.Node("worker-1")).COSI, etcd.LocalMemberID)
	if !state.IsNotFoundError(err) {
		t.Errorf("the member of a worker: %v", err)
	}
}

// TestServices: their order, and that etcd obeys nobody who comes by the API.
func TestServices(t *testing.T) {
	c := admin(t, shared.Node("cp-2"))
	list, err := c.ServiceList(within(t, 5*time.Second))
	must(t, err)
	var got []string
	for _, s := range list.Messages[0].Services {
		got = append(got, s.Id+" "+s.State)
	}
	want := []string{"machined Running", "apid Running", "containerd Running", "cri Running", "etcd Running"}
	if !slices.Equal(got, want) {
		t.Errorf("the services are %q", got)
	}
	_, err = c.ServiceStop(within(t, 5*time.Second), "etcd")
	answers(t, err, codes.Unknown, `service "etcd" doesn't support stop operation via API`)
	_, err = c.ServiceRestart(within(t, 5*time.Second), "etcd")
	answers(t, err, codes.Unknown, `service "etcd" doesn't support restart operation via API`)
}

// TestReadHasTheBootID: and nothing else.
func TestReadHasTheBootID(t *testing.T) {
	n := shared.Node("worker-1")
	id, err := bootID(within(t, 5*time.Second), admin(t, n))
	must(t, err)
	if id == "" || id != n.BootID() {
		t.Errorf("the boot ID is %q, want %q", id, n.BootID())
	}
	r, err := admin(t, n).Read(within(t, 5*time.Second), "/etc/hostname")
	if err == nil {
		_, err = r.Read(make([]byte, 1))
		err = errors.Join(err, r.Close())
	}
	code(t, err, codes.NotFound)
}
