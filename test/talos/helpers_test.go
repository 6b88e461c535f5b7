package talos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/siderolabs/crypto/x509"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/client"
	clientconfig "github.com/siderolabs/talos/pkg/machinery/client/config"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quorate/quorate/test/cluster"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// as is a client of one node with a certificate of these roles.
func as(t *testing.T, n *Node, roles ...role.Role) *client.Client {
	t.Helper()
	certificate, err := n.cluster.authority.bundle.GenerateTalosAPIClientCertificate(role.MakeSet(roles...))
	must(t, err)
	return with(t, n, certificate)
}

func with(t *testing.T, n *Node, certificate *x509.PEMEncodedCertificateAndKey) *client.Client {
	t.Helper()
	config := clientconfig.NewConfig("test", []string{n.IP}, n.cluster.authority.bundle.Certs.OS.Crt, certificate)
	c, err := client.New(t.Context(), client.WithConfig(config))
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c
}

func admin(t *testing.T, n *Node) *client.Client { return as(t, n, role.Admin) }

// within bounds one call.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// quick is for calls that the node answers at once, or not at all.
const quick = 500 * time.Millisecond

// answers checks a code and a whole text.
func answers(t *testing.T, err error, code codes.Code, text string) {
	t.Helper()
	got, ok := status.FromError(err)
	if err == nil || !ok || got.Code() != code || got.Message() != text {
		t.Errorf("the answer is %v, want %s: %s", err, code, text)
	}
}

// code checks the code alone, where the text is gRPC's.
func code(t *testing.T, err error, want ...codes.Code) {
	t.Helper()
	if got := status.Code(err); err == nil || !slices.Contains(want, got) {
		t.Errorf("the answer is %v, want one of %v", err, want)
	}
}

// listed are the members by any control plane.
func listed(t *testing.T, n *Node) []*machine.EtcdMember {
	t.Helper()
	var out []*machine.EtcdMember
	must(t, cluster.Until(t.Context(), "a member list", func(ctx context.Context) (err error) {
		out, err = members(ctx, admin(t, n), false)
		return err
	}))
	return out
}

func members(ctx context.Context, c *client.Client, local bool) ([]*machine.EtcdMember, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list, err := c.EtcdMemberList(ctx, &machine.EtcdMemberListRequest{QueryLocal: local})
	if err != nil {
		return nil, err
	}
	return list.Messages[0].Members, nil
}

func names(list []*machine.EtcdMember) string {
	var out []string
	for _, m := range list {
		out = append(out, m.Hostname)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func find(list []*machine.EtcdMember, name string) *machine.EtcdMember {
	i := slices.IndexFunc(list, func(m *machine.EtcdMember) bool { return m.Hostname == name })
	if i < 0 {
		return &machine.EtcdMember{}
	}
	return list[i]
}

// whole waits until all control planes are voters again.
func whole(t *testing.T, c *Cluster) {
	t.Helper()
	if broken != "" {
		t.Fatalf("%s left the nodes broken", broken)
	}
	for _, n := range c.ControlPlanes() {
		if err := n.Voting(t.Context()); err != nil {
			broken = t.Name()
			t.Fatal(err)
		}
	}
}

// broken is the test that found the nodes out of order: others need not wait for them.
var broken string

// until waits for something about a node.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	must(t, cluster.Until(t.Context(), what, func(context.Context) error {
		if !is() {
			return errors.New("it is not so")
		}
		return nil
	}))
}

func bootID(ctx context.Context, c *client.Client) (string, error) {
	r, err := c.Read(ctx, bootIDPath)
	if err != nil {
		return "", err
	}
	content, err := io.ReadAll(r)
	return strings.TrimSpace(string(content)), errors.Join(err, r.Close())
}

// rebooted waits until a client reads another boot ID.
func rebooted(t *testing.T, n *Node, before string) {
	t.Helper()
	c := admin(t, n)
	must(t, cluster.Until(t.Context(), n.Name+" to have rebooted", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		id, err := bootID(ctx, c)
		if err == nil && id == before {
			err = fmt.Errorf("the boot ID is still %s", id)
		}
		return err
	}))
}

// lost is a node after somebody has wiped EPHEMERAL under it.
func lost(t *testing.T, nodes ...*Node) {
	t.Helper()
	for _, n := range nodes {
		n.PowerOff()
		must(t, n.disk.wipe("EPHEMERAL"))
	}
	for _, n := range nodes {
		must(t, n.PowerOn())
		until(t, n.Name+" to be Preparing", func() bool { return n.Service("etcd") == statePreparing })
	}
}
