package manifests

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// One field of a sample is changed, and the schema alone refuses it. What rules
// refuse is tested with the rules.
func TestSchemaRefusals(t *testing.T) {
	for _, c := range []struct {
		sample, field, value, want string
	}{
		{"etcd.yaml", "spec.replicas", "", "spec.replicas: Required value"},
		{"etcd.yaml", "spec.replicas", "10", "spec.replicas: Invalid value: 10: spec.replicas in body should be less than or equal to 9"},
		{"etcd.yaml", "spec.replicas", "-1", "spec.replicas: Invalid value: -1: spec.replicas in body should be greater than or equal to 0"},
		{"etcd.yaml", "spec.size", "3", "unknown field spec.size"},
		{"etcd.yaml", "spec.storage.size", "lots", `spec.storage.size: Invalid value: "lots": spec.storage.size in body should match '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'`},
		{"etcd.yaml", "spec.etcd.version", "3.4.34", `spec.etcd.version: Invalid value: "3.4.34": spec.etcd.version in body should match '^3\.[5-7]\.[0-9]+$'`},
		{"etcd.yaml", "spec.pod.spread", "Rack", `spec.pod.spread: Unsupported value: "Rack": supported values: "Node", "Zone"`},
		{"etcd.yaml", "status.clusterID", "0cdf", `status.clusterID: Invalid value: "0cdf": status.clusterID in body should match '^[1-9a-f][0-9a-f]*$'`},
		{"etcd.yaml", "status.members", "[{id: a1, name: '', role: voter, started: true, leader: false}]", "status.members[0].healthy: Required value"},
		{"etcd.yaml", "status.lastErrors", "[{code: EQUORUM, description: d, observedAt: 2030-01-02T15:04:05Z}]", `status.lastErrors[0].code: Invalid value: "EQUORUM": status.lastErrors[0].code in body should match '^ERR_[A-Z0-9]+(_[A-Z0-9]+)*$'`},
		{"etcd.yaml", "status.removedMembers", "[{id: a1, clusterID: c1, state: intended, at: 2030-01-02T15:04:05Z}, {id: a1, clusterID: c1, state: confirmed, at: 2030-01-02T15:04:05Z}]", `status.removedMembers[1]: Duplicate value: {"clusterID":"c1","id":"a1"}`},
		{"etcd-bootstrap.yaml", "spec.etcd.bootstrapWithExistingCluster.members", "[]", "spec.etcd.bootstrapWithExistingCluster.members: Invalid value: 0: spec.etcd.bootstrapWithExistingCluster.members in body should have at least 1 items"},
		{"etcd-bootstrap.yaml", "spec.etcd.bootstrapWithExistingCluster.members", "[{name: Orders_0, peerURLs: ['https://a.example.com:2380']}]", `spec.etcd.bootstrapWithExistingCluster.members[0].name: Invalid value: "Orders_0": spec.etcd.bootstrapWithExistingCluster.members[0].name in body should match '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'`},
		{"etcd-bootstrap.yaml", "spec.etcd.bootstrapWithExistingCluster.clientEndpoints", "[etcd.example.com]", `spec.etcd.bootstrapWithExistingCluster.clientEndpoints[0]: Invalid value: "etcd.example.com": spec.etcd.bootstrapWithExistingCluster.clientEndpoints[0] in body should match '^https?://[^/\s]+:[0-9]{1,5}$'`},
		{"taloscluster.yaml", "spec.controlPlane.count", "7", "spec.controlPlane.count: Invalid value: 7: spec.controlPlane.count in body should be less than or equal to 5"},
		{"taloscluster.yaml", "spec.secretsBundleRef.name", "", "spec.secretsBundleRef.name: Required value"},
		{"talosmachine.yaml", "spec.role", "etcd", `spec.role: Unsupported value: "etcd": supported values: "controlplane", "worker"`},
		{"talosetcdbackup.yaml", "spec.schedule", "hourly", `spec.schedule: Invalid value: "hourly": spec.schedule in body should match '^(@hourly|@daily|@weekly|[^\s@]+(\s+[^\s]+){4})$'`},
		{"talosetcdbackup.yaml", "spec.retention", "501", "spec.retention: Invalid value: 501: spec.retention in body should be less than or equal to 500"},
		{"talosoperation.yaml", "spec.etcdRestore.confirm", "", "spec.etcdRestore.confirm: Required value"},
		{"talosoperation.yaml", "status.phase", "Failed", `status.phase: Unsupported value: "Failed": supported values: "Pending", "Running", "Paused", "Held", "Completed"`},
	} {
		t.Run(c.sample+" "+c.field+" "+c.value, func(t *testing.T) {
			obj := map[string]any{}
			if err := utilyaml.Unmarshal(read(t, c.sample), &obj); err != nil {
				t.Fatal(err)
			}
			change(t, obj, c.field, c.value)
			server := serve(t, byKind(t, samples[c.sample]))
			server.rules = nil
			if got := server.create(obj); !slices.Equal(got, []string{c.want}) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), c.want)
			}
		})
	}
}

// change sets a field to a YAML value, or takes it away when the value is empty.
func change(t *testing.T, obj map[string]any, path, value string) {
	t.Helper()
	keys := strings.Split(path, ".")
	if value == "" {
		unstructured.RemoveNestedField(obj, keys...)
		return
	}
	var v any
	if err := utilyaml.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	if f, ok := v.(float64); ok {
		v = int64(f)
	}
	if err := unstructured.SetNestedField(obj, v, keys...); err != nil {
		t.Fatal(err)
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct{ kind, spec, want string }{
		{"Etcd", "replicas: 3", "progressDeadlineSeconds: 600\nreplicas: 3\nstorage:\n  size: 8Gi\n"},
		{"Etcd", "{replicas: 3, etcd: {}, pod: {}}", "etcd:\n  clientPort: 2379\n  peerPort: 2380\npod:\n  spread: Node\n  terminationGracePeriodSeconds: 30\nprogressDeadlineSeconds: 600\nreplicas: 3\nstorage:\n  size: 8Gi\n"},
		{"TalosMachine", "{clusterRef: {name: c}, role: worker, endpoint: 192.0.2.9}", "approved: false\nclusterRef:\n  name: c\nendpoint: 192.0.2.9\nrole: worker\n"},
		{"TalosEtcdBackup", "{clusterRef: {name: c}, schedule: '@daily', objectStore: {bucket: abc, credentialsRef: {name: s}}}", "clusterRef:\n  name: c\nobjectStore:\n  bucket: abc\n  credentialsRef:\n    name: s\n  region: us-east-1\nretention: 48\nschedule: '@daily'\n"},
	} {
		t.Run(c.kind+" "+c.spec, func(t *testing.T) {
			obj := map[string]any{"apiVersion": "quorate.dev/v1alpha1", "kind": c.kind, "metadata": map[string]any{"name": "x"}}
			change(t, obj, "spec", c.spec)
			if objections := serve(t, byKind(t, c.kind)).create(obj); len(objections) > 0 {
				t.Fatal(objections)
			}
			got, err := yaml.Marshal(obj["spec"])
			if err != nil || string(got) != c.want {
				t.Errorf("%v got\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}
