package script

import (
	"fmt"
)

func factory(count int) string {
	return fmt.Sprintf(`apiVersion: quorate.dev/v1alpha1
kind: TalosCluster
metadata:
  name: factory
spec:
  endpoint: https://k8s.factory.example.com:6443
  controlPlane:
    count: %d
  secretsBundleRef:
    name: factory-talos-secrets
`, count)
}

func setCount(count int) string {
	return fmt.Sprintf(`kubectl patch taloscluster/factory --type=merge -p '{"spec":{"controlPlane":{"count":%d}}}'`, count)
}

var controlPlane = Section{
	Title: "A Talos control plane",
	Line:  "An even number of members survives no more than one fewer, and a control plane shrinks one step at a time.",
	Steps: []Step{
		{
			Name: "a control plane of 2", Command: "kubectl apply -f -", Input: factory(2),
			Want: refused("control-plane-count", "A control plane of 2 is refused", "Choose 1, 3 or 5"),
		},
		{Name: "a control plane of 5", Command: "kubectl apply -f -", Input: factory(5), Want: allowed("created")},
		{
			Name: "from 5 to 1", Command: setCount(1),
			Want: refused("count-one-step-down", "from 5 to 1 at once", "Go from 5 to 3, delete two machines, then go to 1"),
		},
	},
}

func machine(name, role string) string {
	return fmt.Sprintf(`apiVersion: quorate.dev/v1alpha1
kind: TalosMachine
metadata:
  name: %s
spec: {clusterRef: {name: factory}, role: %s, endpoint: %s.factory.example.com, approved: true}
`, name, role, name)
}

var fourMachines = machine("cp-1", "controlplane") + "---\n" + machine("cp-2", "controlplane") + "---\n" +
	machine("cp-3", "controlplane") + "---\n" + machine("worker-1", "worker")

const annotateFirst = "run kubectl annotate talosmachine worker-1 quorate.dev/allow-delete=true and delete again"

var (
	cp2Ill    = Records{"taloscluster/factory", "etcd has three voters, and cp-2 is ill", voters(map[int]bool{1: true, 3: true}, 1, 2, 3)}
	twoVoters = Records{"taloscluster/factory", "etcd has two voters, both healthy", voters(map[int]bool{1: true, 3: true}, 1, 3)}
	oneVoter  = Records{"taloscluster/factory", "etcd has one voter, cp-1", voters(map[int]bool{1: true}, 1)}
	threeOK   = Records{"taloscluster/factory", "etcd has three voters, all healthy", voters(map[int]bool{1: true, 2: true, 3: true}, 1, 2, 3)}
)

var machines = Section{
	Title: "Deleting machines",
	Line:  "Deleting a TalosMachine takes its etcd member along, so it must be meant, and the cluster must be able to bear it.",
	Steps: []Step{
		{Name: "four machines", Command: "kubectl apply -f -", Input: fourMachines, Want: allowed("cp-1 created", "worker-1 created")},
		{
			Name:    "without the annotation",
			Before:  []Action{hasMember(1), hasMember(2), hasMember(3), threeOK},
			Command: "kubectl delete talosmachine worker-1",
			Want:    refused("machine-delete-wants-annotation", "Deleting machine worker-1 is refused", annotateFirst),
		},
		{Name: "the annotation", Command: "kubectl annotate talosmachine --all quorate.dev/allow-delete=true", Want: allowed("worker-1 annotated")},
		{Name: "a worker with the annotation", Command: "kubectl delete talosmachine worker-1", Want: allowed("deleted")},
		{
			Name: "below the declared count", Command: "kubectl delete talosmachine cp-3",
			Want: refused("machine-delete-below-count", "2 approved control planes would remain, and cluster factory declares 3",
				"Approve a replacement control plane first, or lower spec.controlPlane.count (to 1, 3 or 5)"),
		},
		{
			Name: "the approval taken back", Command: `kubectl patch talosmachine/cp-3 --type=merge -p '{"spec":{"approved":false}}'`,
			Want: refused("machine-approval-kept", "Taking back the approval of control plane cp-3 is refused", "delete this TalosMachine, after a replacement is approved"),
		},
		{
			Name: "its member forgotten by a stranger", As: Admin,
			Command: `kubectl patch talosmachine/cp-3 --subresource=status --type=merge -p '{"status":{"etcdMember":null}}'`,
			Want:    refused("machine-status-is-ours", "etcdMember, address, nodeName or observedReconcileRequest of cp-3", "Change spec or the machine itself instead"),
		},
		{Name: "the count lowered to 1", Command: setCount(1), Want: allowed("patched")},
		{
			Name: "quorum by the last report", Before: []Action{cp2Ill}, Command: "kubectl delete talosmachine cp-1",
			Want: refused("machine-delete-keeps-quorum", "2 of 3 etcd voters are healthy, and without it 1 of 2 would be",
				"Heal or add voters first (unhealthy: cp-2)"),
		},
		{
			Name: "the ill one called healthy by a stranger", As: Admin,
			Command: `kubectl patch taloscluster/factory --subresource=status --type=merge -p '{"status":{"members":[]}}'`,
			Want:    refused("cluster-status-is-ours", "Writing members, lock, clusterID, removedMembers or restoreEpoch of factory", "Heal or change the cluster instead"),
		},
		{Name: "the ill one goes", Command: "kubectl delete talosmachine cp-2", Want: allowed("deleted")},
		{Name: "one of two healthy ones goes", Before: []Action{twoVoters}, Command: "kubectl delete talosmachine cp-3", Want: allowed("deleted")},
		{
			Name: "the last control plane", Before: []Action{oneVoter}, Command: "kubectl delete talosmachine cp-1",
			Want: refused("machine-delete-last-control-plane", "no other approved control plane of cluster factory would remain",
				"or delete the TalosCluster if the whole cluster is to go").and("machine-delete-below-count", "machine-delete-keeps-quorum"),
		},
		{Name: "the whole cluster", Command: "kubectl delete taloscluster factory", Want: allowed("deleted")},
		{Name: "its last machine", Command: "kubectl delete talosmachine cp-1", Want: allowed("deleted")},
	},
}
