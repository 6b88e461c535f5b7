package talos

import (
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/cluster"
	"github.com/siderolabs/talos/pkg/machinery/role"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestRecord: what arrived is kept with what it was about and how it ended, also what
// was not allowed; what never arrived is not.
func TestRecord(t *testing.T) {
	whole(t, shared)
	n := shared.Node("cp-2")
	id, err := n.MemberID(t.Context())
	must(t, err)
	before := len(n.Calls())
	remove := func(who role.Role, id uint64) error {
		return as(t, n, who).EtcdRemoveMemberByID(within(t, 10*time.Second), &machine.EtcdRemoveMemberByIDRequest{MemberId: id})
	}
	answers(t, remove(role.Reader, id), codes.PermissionDenied, "not authorized")
	code(t, remove(role.Admin, 1), codes.NotFound)
	lift := n.Fault(Unreachable())
	code(t, remove(role.Admin, id), codes.Unavailable)
	lift()
	_, err = admin(t, n).Version(within(t, 10*time.Second))
	must(t, err)
	var got []string
	for _, c := range n.Calls()[before:] {
		if c.Node != "cp-2" || c.Ended.Before(c.Began) {
			t.Errorf("a call of %s began at %s and ended at %s", c.Node, c.Began, c.Ended)
		}
		got = append(got, c.Method+" "+string(c.Listing)+" "+status.Code(c.Err).String())
	}
	want := []string{
		"EtcdRemoveMemberByID listed PermissionDenied", "EtcdRemoveMemberByID gone NotFound", "Version  OK",
	}
	if !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
}

// TestClusterInfo: a node names the cluster of its bundle.
func TestClusterInfo(t *testing.T) {
	n := shared.Node("worker-1")
	info, err := safe.StateGetByID[*cluster.Info](within(t, 10*time.Second), admin(t, n).COSI, cluster.InfoID)
	must(t, err)
	if got, want := info.TypedSpec().ClusterID, shared.authority.bundle.Cluster.ID; got != want || want == "" {
		t.Errorf("it names %q, want %q", got, want)
	}
}
