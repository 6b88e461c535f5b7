package talos

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/cosi-project/runtime/pkg/safe"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/resources/block"
	"google.golang.org/grpc/codes"
)

// alone is one control plane that founded its etcd, with these volumes as partitions.
func alone(t *testing.T, volumes ...string) *Node {
	t.Helper()
	c, err := Start(t.Context(), Options{ControlPlanes: 1, Bundle: shared.Bundle(), Volumes: volumes})
	must(t, err)
	t.Cleanup(func() { must(t, c.Stop()) })
	return c.Node("cp-1")
}

// shown are the system volumes by the API, as "ETCD partition".
func shown(t *testing.T, n *Node) (out []string) {
	t.Helper()
	list, err := safe.StateListAll[*block.VolumeStatus](within(t, 10*time.Second), admin(t, n).COSI)
	must(t, err)
	for v := range list.All() {
		out = append(out, fmt.Sprintf("%s %s %t %s", v.Metadata().ID(), v.TypedSpec().Type, v.TypedSpec().Location != "", v.TypedSpec().MountSpec.ParentID))
	}
	slices.Sort(out)
	return out
}

// TestVolumeStatus: which volumes are partitions of their own shows in their types; a
// directory has no device, and names what it lies in.
func TestVolumeStatus(t *testing.T) {
	want := []string{
		"/var/lib directory false EPHEMERAL", "CRI directory false /var/lib", "EPHEMERAL partition true ", "ETCD directory false /var/lib",
		"KUBELET directory false /var/lib", "LOG directory false EPHEMERAL", "META partition true ", "STATE partition true ",
	}
	if got := shown(t, shared.Node("cp-1")); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	want[1], want[3] = "CRI partition true ", "ETCD partition true "
	if got := shown(t, alone(t, VolumeETCD, VolumeCRI)); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	if _, err := New(t.Context(), Options{Volumes: []string{"DATA"}}); !errors.Is(err, errVolume) {
		t.Errorf("a partition that nobody knows: %v", err)
	}
}

// wipe resets with these volumes and waits for the next boot.
func wipe(t *testing.T, n *Node, labels ...string) {
	t.Helper()
	before := n.BootID()
	must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), reset(labels...)))
	rebooted(t, n, before)
}

func reset(labels ...string) *machine.ResetRequest {
	in := &machine.ResetRequest{Reboot: true}
	for _, label := range labels {
		in.SystemPartitionsToWipe = append(in.SystemPartitionsToWipe, &machine.ResetPartitionSpec{Label: label, Wipe: true})
	}
	return in
}

// TestResetLeavesDedicatedVolumes: a reset of EPHEMERAL leaves an etcd on a partition of
// its own as it was, the same member with its data, and one that names it does not. What
// a partition holds is at the path where it is mounted.
func TestResetLeavesDedicatedVolumes(t *testing.T) {
	n := alone(t, VolumeETCD)
	id, err := n.MemberID(t.Context())
	must(t, err)
	_, err = etcdOf(t, n).Put(within(t, time.Minute), "canary", "before")
	must(t, err)
	mark(t, n)
	wipe(t, n, "EPHEMERAL")
	must(t, n.Voting(t.Context()))
	after, err := etcdOf(t, n).Get(within(t, time.Minute), "canary")
	must(t, err)
	if now, err := n.MemberID(t.Context()); err != nil || now != id || len(after.Kvs) != 1 {
		t.Errorf("the member is %x, was %x: %v; it has %v", now, id, err, after.Kvs)
	}
	if got := marked(n); got != "STATE META " {
		t.Errorf("left are %s", got)
	}
	member := &machine.ListRequest{Root: "/var/lib/etcd/member"}
	if list, err := listing(t, n, member); err != nil || len(list) == 0 {
		t.Errorf("below /var/lib/etcd/member there is %q: %v", list, err)
	}
	wipe(t, n, "EPHEMERAL", VolumeETCD)
	until(t, "etcd to wait", func() bool { return n.Service("etcd") == statePreparing })
	if _, err := listing(t, n, member); err == nil || hasData(t, n) {
		t.Errorf("there is data: %t, %v", hasData(t, n), err)
	}
}

// TestResetOfEverything: without names the partitions of their own go too.
func TestResetOfEverything(t *testing.T) {
	n := alone(t, VolumeETCD, VolumeLog)
	must(t, os.WriteFile(n.DiskPath(VolumeLog, "words"), nil, 0o600))
	must(t, admin(t, n).ResetGeneric(within(t, 10*time.Second), &machine.ResetRequest{}))
	until(t, "all to be gone", func() bool {
		_, err := os.Stat(n.DiskPath(VolumeLog, "words"))
		return os.IsNotExist(err) && !hasData(t, n)
	})
}

// TestResetOfDirectories: a volume that is a folder of EPHEMERAL is refused unless that is
// wiped with it, and nothing is wiped.
func TestResetOfDirectories(t *testing.T) {
	n := shared.Node("worker-1")
	before := n.BootID()
	for _, labels := range [][]string{{VolumeETCD}, {VolumeKubelet, "STATE"}} {
		err := admin(t, n).ResetGeneric(within(t, 10*time.Second), reset(labels...))
		answers(t, err, codes.Unknown, fmt.Sprintf("failed to reset: volume %q is not located", labels[0]))
	}
	if n.BootID() != before {
		t.Error("a refused reset has rebooted the machine")
	}
	wipe(t, n, VolumeETCD, "EPHEMERAL", VolumeLog)
}

// TestWiped: by name, by what is a partition, and by what lives where.
func TestWiped(t *testing.T) {
	d := disk{dedicated: []string{VolumeETCD}}
	for _, c := range []struct{ named, want []string }{
		{nil, []string{"EPHEMERAL", "STATE", "META", "ETCD"}},
		{[]string{"EPHEMERAL"}, []string{"EPHEMERAL"}},
		{[]string{"ETCD"}, []string{"ETCD"}},
		{[]string{"EPHEMERAL", "ETCD", "CRI", "KUBELET", "LOG"}, []string{"EPHEMERAL", "ETCD"}},
	} {
		if got, err := d.toWipe(reset(c.named...)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q wipes %q, want %q: %v", c.named, got, c.want, err)
		}
	}
	got, err := d.toWipe(&machine.ResetRequest{SystemPartitionsToWipe: []*machine.ResetPartitionSpec{{Label: "CRI", Wipe: true}, {Label: "EPHEMERAL"}}})
	if err == nil {
		t.Errorf("a folder of a volume that is named and kept is wiped: %q", got)
	}
}
