package main

import (
	"fmt"

	"github.com/quorate/quorate/test/restored"
	"github.com/quorate/quorate/test/s3"
)

// backup declares where snapshots are kept.
func backup(objects *s3.Server) string {
	o := objects.Options("factory")
	return fmt.Sprintf(`apiVersion: v1
kind: Secret
metadata: {name: nightly-store, namespace: %[1]s}
stringData: {accessKeyID: %[2]s, secretAccessKey: %[3]s}
---
apiVersion: quorate.dev/v1alpha1
kind: TalosEtcdBackup
metadata: {name: nightly, namespace: %[1]s}
spec:
  clusterRef: {name: %[4]s}
  schedule: "@daily"
  objectStore: {endpoint: "%[5]s", region: %[6]s, bucket: %[7]s, prefix: %[8]s, credentialsRef: {name: nightly-store}}
`, restored.Namespace, o.AccessKeyID, o.SecretAccessKey, restored.Cluster, o.Endpoint, o.Region, o.Bucket, o.Prefix)
}

const in = " -n " + restored.Namespace

func steps(objects *s3.Server) []step {
	return []step{
		{title: "A cluster that holds its own Quorate", name: "three control planes and a worker, all Ready",
			command: "kubectl get talosmachines -o wide" + in, says: []string{"cp-1", "cp-2", "cp-3", "worker-1"}},
		{name: "something of a user's", command: "kubectl create configmap menu --from-literal=today=soup -n " + restored.Users, says: []string{"created"}},

		{title: "A backup", name: "where snapshots are kept", command: "kubectl apply -f -", input: backup(objects), says: []string{"talosetcdbackup.quorate.dev/nightly created"}},
		{name: "a snapshot is taken, read back and opened", command: "quorate backup now nightly" + in},
		{name: "it is listed once it is proved", command: "quorate backup list" + in, says: []string{"etcd-", "nightly"}},

		{title: "What comes after it", name: "something new", command: "kubectl create configmap later --from-literal=a=b -n " + restored.Users, says: []string{"created"}},
		{name: "and a mistake", command: "kubectl delete configmap menu -n " + restored.Users, says: []string{"deleted"}},

		{title: "The restore", name: "not without saying that the loss is meant", command: "quorate restore --live" + in, code: 1, says: []string{"--override"}},
		{name: "not with the wrong name", command: "quorate restore --live --override --yes --confirm quay" + in, code: 1, says: []string{"nothing was changed"}},
		{name: "the plan, the order, and the restore to its end", command: "quorate restore --live --override --yes --confirm " + restored.Cluster + " --follow" + in,
			says: []string{"menu", "later", "Completed"}},

		{title: "What is there now", name: "what was deleted by mistake", command: "kubectl get configmap menu -o yaml -n " + restored.Users, says: []string{"today: soup"}, settles: true},
		{name: "what came later is gone", command: "kubectl get configmap later -n " + restored.Users, code: 1, says: []string{"NotFound"}},
		{name: "the operation, made again after the rewind took it", command: "quorate operation list" + in, says: []string{"Completed"}},
		{name: "every machine", command: "kubectl wait --for=condition=Ready talosmachines --all --timeout=120s" + in, says: []string{"cp-1", "cp-2", "cp-3", "worker-1"}},
		{name: "and the way back", command: "quorate backup list" + in, says: []string{"etcd-"}},
	}
}
