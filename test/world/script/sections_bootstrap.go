package script

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

const movedEtcd = `apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata:
  name: moved
spec:
  replicas: 3
  etcd:
    bootstrapWithExistingCluster:
      members:
      - {name: source-0, peerURLs: ["https://source-0.old.example.com:2380"]}
      - {name: source-1, peerURLs: ["https://source-1.old.example.com:2380"]}
      - {name: source-2, peerURLs: ["https://source-2.old.example.com:2380"]}
      clientEndpoints: ["https://source-0.old.example.com:2379"]
`

const (
	patchMoved = "kubectl patch etcd/moved --type=json -p "
	listPath   = "/spec/etcd/bootstrapWithExistingCluster"
)

var (
	joiningSource = Busy(v1alpha1.ScaleOut, 0, 3).Bootstrapped(false).Joined("source-0", "source-1", "source-2")
	stuckJoining  = joiningSource.With(v1alpha1.ConditionStalled, metav1.ConditionTrue, "PodUnschedulable")
	sharing       = Idle(3).Bootstrapped(true).Joined("source-0", "source-1", "source-2")
	leavingSource = Busy(v1alpha1.RemoveBootstrapMembers, 3, 3).Bootstrapped(true).Joined("source-0", "source-1", "source-2")
)

var bootstrap = Section{
	Title: "Moving in from another cluster",
	Line:  "Taking a name off the bootstrap list removes that member of the old cluster, so it waits for its turn.",
	Steps: []Step{
		{Name: "join a source", Command: "kubectl apply -f -", Input: movedEtcd, Want: allowed("etcd.quorate.dev/moved created")},
		{
			Name:    "bootstrap member removed",
			Before:  []Action{joiningSource.records("etcd/moved", "ScaleOperationInProgress is True, ScalingOut; three source members are joined")},
			Command: patchMoved + `'[{"op":"remove","path":"` + listPath + `/members/2"}]'`,
			Want:    refused("bootstrap-removal-blocked", "Removing bootstrap member source-2 is refused", "ScalingOut is in progress", waitForEnd),
		},
		{
			Name:    "pointed at another cluster while joining",
			Command: patchMoved + `'[{"op":"replace","path":"` + listPath + `/clientEndpoints","value":["https://elsewhere.example.com:2379"]}]'`,
			Want: refused("bootstrap-frozen-until-joined", "https://elsewhere.example.com:2379 could be another cluster",
				"Keep one of the old ones (https://source-0.old.example.com:2379 is the first)"),
		},
		{
			Name: "bootstrap list unset", Command: patchMoved + `'[{"op":"remove","path":"` + listPath + `"}]'`,
			Want: refused("bootstrap-unset-blocked", "ScalingOut is in progress", waitForEnd),
		},
		{
			Name: "spec.etcd around it removed", Command: patchMoved + `'[{"op":"remove","path":"/spec/etcd"}]'`,
			Want: refused("bootstrap-unset-blocked", "ScalingOut is in progress", waitForEnd),
		},
		{
			Name:    "bootstrap list reordered",
			Command: patchMoved + `'[{"op":"move","from":"` + listPath + `/members/2","path":"` + listPath + `/members/0"}]'`,
			Want:    allowed("patched"),
		},
		{
			Name:    "a stalled join put to sleep",
			Before:  []Action{stuckJoining.records("etcd/moved", "Stalled is True besides")},
			Command: "kubectl scale etcd/moved --replicas=0",
			Want:    refused("shared-not-to-zero", "Scaling from 3 to 0 is refused", waitForEnd, giveUpJoin),
		},
		{Name: "a stalled join is given up", Command: "kubectl scale etcd/moved --replicas=1 --dry-run=server", Want: allowed("scaled")},
		{
			Name:    "two changes in one update",
			Before:  []Action{sharing.records("etcd/moved", "all have joined, no operation")},
			Command: patchMoved + `'[{"op":"remove","path":"` + listPath + `/members/0"},{"op":"replace","path":"/spec/replicas","value":5}]'`,
			Want:    refused("one-change-at-a-time", "Changing replicas from 3 to 5 and removing bootstrap member source-2", "two operations with no order between them", "Send one, wait until condition ScaleOperationInProgress is False"),
		},
		{
			Name: "half of a shared cluster put to sleep", Command: "kubectl scale etcd/moved --replicas=0",
			Want: refused("shared-not-to-zero", "source members are recorded as joined (3, source-0 the first)", "Unset bootstrapWithExistingCluster"),
		},
		{
			Name: "bootstrap member removed at rest", Command: patchMoved + `'[{"op":"remove","path":"` + listPath + `/members/0"}]'`,
			Want: allowed("patched"),
		},
		{
			Name:    "bootstrap member put back",
			Before:  []Action{leavingSource.records("etcd/moved", "ScaleOperationInProgress is True, BootstrapMembersRemoval of source-2")},
			Command: patchMoved + `'[{"op":"add","path":"` + listPath + `/members/-","value":{"name":"source-2","peerURLs":["https://source-2.old.example.com:2380"]}}]'`,
			Want:    refused("bootstrap-readd-blocked", "Putting back bootstrap member source-2 is refused", "BootstrapMembersRemoval is in progress", waitForEnd),
		},
		{
			Name: "scale out during bootstrap removal", Command: "kubectl scale etcd/moved --replicas=5",
			Want: refused("scale-out-blocked", "BootstrapMembersRemoval is in progress", waitForEnd),
		},
		{
			Name: "scale in during bootstrap removal", Command: "kubectl scale etcd/moved --replicas=1",
			Want: refused("scale-in-blocked", "BootstrapMembersRemoval is in progress", waitForEnd),
		},
	},
}
