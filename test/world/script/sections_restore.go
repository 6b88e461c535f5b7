package script

import (
	"fmt"

	"github.com/quorate/quorate/api/v1alpha1"
)

const hourlyBackup = `apiVersion: quorate.dev/v1alpha1
kind: TalosEtcdBackup
metadata:
  name: factory-hourly
spec:
  clusterRef: {name: factory}
  schedule: "@hourly"
  objectStore: {bucket: example-etcd-backups, credentialsRef: {name: factory-backup-store}}
`

func restoreOf(name, backup, confirm string) string {
	return fmt.Sprintf(`apiVersion: quorate.dev/v1alpha1
kind: TalosOperation
metadata:
  name: %s
spec:
  kind: etcd-restore
  clusterRef: {name: factory}
  etcdRestore:
    backupRef: {name: %s}
    snapshot: etcd-20300102T150405Z.snapshot.age
    confirm: %s
`, name, backup, confirm)
}

var (
	hasSnapshot = Records{"talosetcdbackup/factory-hourly", "one snapshot", v1alpha1.TalosEtcdBackupStatus{
		Snapshots: []v1alpha1.Snapshot{{Name: "etcd-20300102T150405Z.snapshot.age", Time: began, Size: 4 << 20}},
	}}
	wiping = Records{"talosoperation/rewind", "phase Running, step Wiping", v1alpha1.TalosOperationStatus{
		Phase: v1alpha1.PhaseRunning, EtcdRestore: &v1alpha1.EtcdRestoreStatus{Step: v1alpha1.StepWiping},
	}}
	restored = Records{"talosoperation/rewind", "phase Completed", v1alpha1.TalosOperationStatus{Phase: v1alpha1.PhaseCompleted}}
)

var restore = Section{
	Title: "Restoring a cluster",
	Line:  "A restore loses all that came after its snapshot: it is named twice, and it takes a right of its own.",
	Steps: []Step{
		{Name: "a backup", Command: "kubectl apply -f -", Input: hourlyBackup, Want: allowed("created")},
		{
			Name: "confirm names another cluster", Before: []Action{hasSnapshot},
			Command: "kubectl create -f -", Input: restoreOf("rewind", "factory-hourly", "foundry"),
			Want: refused("restore-confirm-names-cluster", "confirm foundry is refused", "the cluster that would be rewound is factory", "Set confirm to factory"),
		},
		{
			Name: "without the override verb", Command: "kubectl create -f -", Input: restoreOf("rewind", "factory-hourly", "factory"),
			Want: refused("restore-needs-override", "alice@example.com does not hold the verb override on talosclusters.quorate.dev factory",
				"Ask an administrator to grant it, for instance with the ClusterRole quorate-override"),
		},
		{
			Name: "the verb is granted", As: Admin,
			Command: "kubectl create rolebinding alice-may-restore --clusterrole=quorate-override --user=alice@example.com",
			Want:    allowed("created"),
		},
		{
			Name: "a backup that is not there", Command: "kubectl create -f -", Input: restoreOf("rewind", "factory-daily", "factory"),
			Want:    refused("restore-backup-of-cluster", "there is no TalosEtcdBackup factory-daily for cluster factory", "Name a backup whose spec.clusterRef is the cluster to restore"),
			Settles: true,
		},
		{
			Name: "with the override verb", Command: "kubectl create -f -", Input: restoreOf("rewind", "factory-hourly", "factory"),
			Want: allowed("talosoperation.quorate.dev/rewind created"),
		},
		{
			Name: "another one meanwhile", Command: "kubectl create -f -", Input: restoreOf("rewind-again", "factory-hourly", "factory"),
			Want: refused("one-operation-at-a-time", "rewind is unfinished", "Wait until its phase is Completed, or delete it"),
		},
		{
			Name:    "its order changed",
			Command: `kubectl patch talosoperation/rewind --type=merge -p '{"spec":{"etcdRestore":{"snapshot":"etcd-20300102T160405Z.snapshot.age"}}}'`,
			Want:    refused("operation-immutable", "it may be running already", "Delete it and create a new one"),
		},
		{
			Name: "the count lowered meanwhile", Command: setCount(3),
			Want: refused("count-not-during-operation", "from 5 to 3 is refused", "operation rewind is unfinished", "Wait until its phase is Completed"),
		},
		{
			Name: "the controller's finalizer", As: Controller,
			Command: `kubectl patch talosoperation/rewind --type=merge -p '{"metadata":{"finalizers":["quorate.dev/etcd-restore"]}}'`,
			Want:    allowed("patched"),
		},
		{
			Name: "its finalizer torn off", Before: []Action{wiping},
			Command: `kubectl patch talosoperation/rewind --type=merge -p '{"metadata":{"finalizers":[]}}'`,
			Want:    refused("operation-finalizer-held", "while the restore is Wiping or Recovering", "quorate restore --recover-cluster"),
		},
		{
			Name: "called completed by a stranger", As: Admin,
			Command: `kubectl patch talosoperation/rewind --subresource=status --type=merge -p '{"status":{"phase":"Completed"}}'`,
			Want:    refused("operation-status-is-ours", "Writing phase, etcdRestore or a StaleWipeSent condition of rewind", "Let the operation end"),
		},
		{Name: "the count lowered afterwards", Before: []Action{restored}, Command: setCount(3), Want: allowed("patched")},
	},
}
