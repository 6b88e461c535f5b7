package machines

import (
	"context"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// Nodes have full names and members short ones, whatever spec.hostname has: nothing,
// the short name or the full one. Each is drained and leaves.
//
// covers: B-12
func TestFullNameAgainstShortName(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 5, hostname: func(n *talos.Node) string {
		return map[string]string{"cp-3": "", "cp-4": n.Name, "cp-5": n.NodeName()}[n.Name]
	}})
	going := []string{"cp-5", "cp-4", "cp-3"}
	for _, name := range going {
		f.deploy("web-"+name, f.talos.Node(name).NodeName())
	}
	f.count(3)
	f.removes("cp-5", "cp-1", "cp-2", "cp-3", "cp-4")
	f.removes("cp-4", "cp-1", "cp-2", "cp-3")
	f.count(1)
	f.removes("cp-3", "cp-1", "cp-2")
	f.cordoned("cp-3", "cp-4", "cp-5")
	f.asked("cp-5 EtcdLeaveCluster", "cp-4 EtcdLeaveCluster", "cp-3 EtcdLeaveCluster")
	for _, name := range going {
		f.off("web-"+name, f.talos.Node(name).NodeName())
	}
}

// removes deletes a machine and wants these members to stay.
func (f *fleet) removes(name string, staying ...string) {
	f.t.Helper()
	id := f.id(name)
	f.delete(name)
	f.gone(name)
	f.lists(staying...)
	f.leftEtcd(name, id)
}

// Of a silent machine that has only been declared, its names are all that is known: the
// member is found by the short one of them.
//
// covers: B-5, B-12
func TestMemberIsFoundByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		hostname func(*talos.Node) string
	}{
		{"short", func(n *talos.Node) string { return n.Name }},
		{"full", (*talos.Node).NodeName},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, plan{controlPlanes: 3, count: 1, strangers: []string{"cp-3"}})
			n, id := f.talos.Node("cp-3"), f.id("cp-3")
			n.Fault(talos.Silent())
			f.approve(n, func(m *v1alpha1.TalosMachine) { m.Spec.Hostname = c.hostname(n) })
			f.watchedOver("cp-3")
			f.delete("cp-3")
			f.gone("cp-3")
			f.lists("cp-1", "cp-2")
			f.survivorRemoves("cp-3", id)
			f.cordoned("cp-3")
		})
	}
}

// A machine whose node nobody can name stays, and says so; once a Node has its address,
// that is its name, and the deletion goes on.
//
// covers: B-12
func TestNodeWithoutAName(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3, count: 1, strangers: []string{"cp-3"}, nameless: []string{"cp-3"}})
	n := f.talos.Node("cp-3")
	for _, call := range []string{"Get", "List", "Hostname"} {
		n.Fault(talos.Answer(call, status.Error(codes.Unknown, "not ready yet")))
	}
	f.approve(n)
	f.watchedOver("cp-3")
	f.delete("cp-3")
	f.removal("cp-3", v1alpha1.ReasonNodeNameUnresolved, "spec.hostname", n.IP)
	f.nothingHappens()
	must(t, admin.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.NodeName()}}))
	f.nodeAt(n.NodeName(), n.IP)
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.askedOnce()
	f.cordoned("cp-3")
}

// Two machines are deleted at once: one removal at a time, and both go. The second one
// leaves when etcd has lost the first, which may still be deleting its data.
func TestTwoDeletionsAtOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 5})
	ids := map[string]uint64{"cp-4": f.id("cp-4"), "cp-5": f.id("cp-5")}
	f.count(3)
	f.delete("cp-4", "cp-5")
	f.gone("cp-4", "cp-5")
	f.lists("cp-1", "cp-2", "cp-3")
	left := f.calls(leave, remove)
	if len(left) != 2 || left[0].Node == left[1].Node || left[0].Method != leave || left[1].Method != leave {
		t.Fatalf("each had to leave once:%s", tell(left))
	}
	if len(left[1].Members) == 0 || slices.Contains(left[1].Members, left[0].MemberID) {
		t.Errorf("the second left while etcd had %x:%s", left[1].Members, tell(left))
	}
	for name, id := range ids {
		f.leftEtcd(name, id)
	}
	f.askedOnce()
}

// The whole cluster is deleted: its machines are let go, and etcd keeps every member.
//
// covers: B-1
func TestWholeClusterIsDeleted(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3, workers: 1})
	must(t, f.end(t.Context()))
	f.keeps(pause, "cp-1", "cp-2", "cp-3")
	f.asked()
	if handed := f.calls(forfeit); len(handed) > 0 {
		t.Errorf("somebody handed over:%s", tell(handed))
	}
	all, err := f.events(context.WithoutCancel(t.Context()))
	must(t, err)
	for _, e := range all {
		if strings.Contains(e.note, "removed from etcd") {
			t.Errorf("it was told: %s", e)
		}
	}
}
