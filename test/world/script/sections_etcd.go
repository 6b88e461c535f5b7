package script

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
)

// The ways out that several steps must name.
const (
	waitForEnd  = "Wait until condition ScaleOperationInProgress is False"
	giveUpStuck = "a scale-out that is Stalled can be given up by going back to exactly 3"
	giveUpJoin  = "a join that is Stalled ends with fewer replicas above 0, or with the deletion of this Etcd"
)

const mainEtcd = `apiVersion: quorate.dev/v1alpha1
kind: Etcd
metadata:
  name: main
spec:
  replicas: 3
`

var beginning = Section{
	Title: "A new Etcd",
	Line:  "It has no status yet, and nothing that the rules look for: that must not be an error, let alone a refusal.",
	Steps: []Step{
		{Name: "create", Command: "kubectl apply -f -", Input: mainEtcd, Want: allowed("etcd.quorate.dev/main created")},
		{Name: "first scale without status", Command: "kubectl scale etcd/main --replicas=5", Want: allowed("scaled")},
		{Name: "scale in before anything is recorded", Command: "kubectl scale etcd/main --replicas=3", Want: allowed("scaled")},
		{Name: "revert before anything is recorded", Command: "kubectl scale etcd/main --replicas=5", Want: allowed("scaled")},
		{
			Name: "even size is advised against", Command: "kubectl scale etcd/main --replicas=4 --dry-run=server",
			Want: allowed("Warning: spec.replicas: 4 members survive the loss of 1, no more than 3 would: use 3 or 5"),
		},
		{Name: "printer columns", Command: "kubectl get etcd/main", Want: allowed("DESIRED", "QUORATE", "OPERATION")},
	},
}

var leaving = Section{
	Title: "Members are leaving",
	Line:  "While the controller removes members, none may be added: the two would fight over the same quorum.",
	Steps: []Step{
		{Name: "scale in", Before: []Action{Idle(5).records("etcd/main", "5 members, no operation")}, Command: "kubectl scale etcd/main --replicas=3", Want: allowed("scaled")},
		{
			Name:    "scale out by kubectl scale",
			Before:  []Action{Busy(v1alpha1.ScaleIn, 5, 3).records("etcd/main", "ScaleOperationInProgress is True, ScalingIn from 5 to 3")},
			Command: "kubectl scale etcd/main --replicas=5",
			Want:    refused("scale-out-blocked", "Scaling out from 3 to 5 replicas is refused", "ScalingIn is in progress", waitForEnd),
		},
		{
			Name: "scale out by kubectl patch", Command: `kubectl patch etcd/main --type=merge -p '{"spec":{"replicas":7}}'`,
			Want: refused("scale-out-blocked", "from 3 to 7 replicas", "ScalingIn is in progress", waitForEnd),
		},
		{
			Name: "scale out by kubectl apply", Command: "kubectl apply -f -",
			Input: "apiVersion: quorate.dev/v1alpha1\nkind: Etcd\nmetadata:\n  name: main\nspec:\n  replicas: 5\n",
			Want:  refused("scale-out-blocked", "from 3 to 5 replicas", "ScalingIn is in progress", waitForEnd),
		},
		{
			Name: "scale out as a dry run", Command: "kubectl scale etcd/main --replicas=5 --dry-run=server",
			Want: refused("scale-out-blocked", "from 3 to 5 replicas", waitForEnd),
		},
		{Name: "further in", Command: "kubectl scale etcd/main --replicas=1 --dry-run=server", Want: allowed("scaled")},
		{Name: "a change of something else", Command: "kubectl annotate etcd/main example.com/ticket=4711", Want: allowed("annotated")},
	},
}

var joining = Section{
	Title: "Members are joining",
	Line:  "The other way round likewise, with one exit: a scale-out that is stuck may be given up.",
	Steps: []Step{
		{Name: "scale out", Before: []Action{Idle(3).records("etcd/main", "3 members, no operation")}, Command: "kubectl scale etcd/main --replicas=5", Want: allowed("scaled")},
		{
			Name:    "scale in during scale-out",
			Before:  []Action{Busy(v1alpha1.ScaleOut, 3, 5).records("etcd/main", "ScaleOperationInProgress is True, ScalingOut from 3 to 5")},
			Command: "kubectl scale etcd/main --replicas=3",
			Want:    refused("scale-in-blocked", "Scaling in from 5 to 3 replicas is refused", "ScalingOut is in progress", waitForEnd, giveUpStuck),
		},
		{
			Name: "a stalled scale-out does not stop halfway",
			Before: []Action{Busy(v1alpha1.ScaleOut, 3, 5).
				With(v1alpha1.ConditionStalled, metav1.ConditionTrue, "PodUnschedulable").
				records("etcd/main", "Stalled is True besides")},
			Command: "kubectl scale etcd/main --replicas=4",
			Want:    refused("scale-in-blocked", "from 5 to 4 replicas", "ScalingOut is in progress", giveUpStuck),
		},
		{Name: "a stalled scale-out is given up", Command: "kubectl scale etcd/main --replicas=3", Want: allowed("scaled")},
	},
}

var hibernation = Section{
	Title: "Sleeping and waking",
	Line:  "0 stops all members and keeps their data, at any time; the cluster wakes at the size it had.",
	Steps: []Step{
		{
			Name:    "to 0 in the middle of an operation",
			Before:  []Action{Busy(v1alpha1.ScaleIn, 5, 3).records("etcd/main", "ScaleOperationInProgress is True, ScalingIn from 5 to 3")},
			Command: "kubectl scale etcd/main --replicas=0 --dry-run=server", Want: allowed("scaled"),
		},
		{
			Name: "3 to 0", Before: []Action{Idle(3).records("etcd/main", "3 members, no operation")},
			Command: "kubectl scale etcd/main --replicas=0", Want: allowed("scaled"),
		},
		{
			Name: "wake at another size", Command: "kubectl scale etcd/main --replicas=5",
			Want: refused("wake-at-recorded-size", "Waking at 5 replicas is refused", "went to sleep with 3 members", "Set replicas to 3"),
		},
		{Name: "wake at the recorded size", Command: "kubectl scale etcd/main --replicas=3", Want: allowed("scaled")},
	},
}
