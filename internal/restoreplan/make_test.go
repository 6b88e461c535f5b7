package restoreplan

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

const wholePlan = `Restore of etcd of cluster default/prod from backup nightly
Snapshot etcd-20300102T150405Z.snapshot.age, taken 2030-01-02T15:04:05Z, at revision 4000

What happens
  1. Take a snapshot of etcd as it is now, by which this restore can be undone
  2. Check snapshot etcd-20300102T150405Z.snapshot.age of backup nightly, and keep a sealed copy of it beside the backups
  3. Let cp-b (where this controller runs) leave etcd
  4. Wipe etcd data on cp-a, cp-c, then cp-b (where this controller runs) once the others have rejoined
  5. Recover etcd on cp-a from the snapshot; the Kubernetes API is away from the wipe until then
  6. Wait until cp-b and cp-c have rejoined etcd
  7. Restart the kubelet of worker-1, and replace the pods of kube-proxy and of the network there
  8. Have every machine reconcile against the restored state, and wait until each is Ready: cp-a, cp-b, cp-c and worker-1
  9. Delete the sealed copy

What to know
  - Everything that was written after 2030-01-02T15:04:05Z is lost (2h3m, 1234 revisions of etcd), Quorate's own objects and Secrets among it.
  - The Kubernetes API is unavailable from the wipe until etcd is recovered, some minutes at least. Pods of workers go on; nothing is scheduled meanwhile.
  - Machines reconcile against the restored state: what was changed in their objects since is undone. Check each of them afterwards.
  - Every control plane reboots, and what its ephemeral partition holds is erased: images, logs, and the volumes of pods there.
  - cp-d was a member of etcd at the snapshot and is no control plane now: its TalosMachine comes back, and its member does not. Delete that TalosMachine once the restore is done.
  - cp-c has become a control plane since the snapshot: it joins the restored etcd, and is a stranger to Quorate until its TalosMachine is created and approved again.
  - etcd has an alarm now: NOSPACE on cp-a. If the snapshot has it too, it is back after the restore.

Exist now and not in the snapshot: they are lost: 1 object
  1 pods in shop: late

Exist in the snapshot and not now: they come back: 1 object
  1 configmaps in shop: lost

If it stops after the wipe has begun, this goes on, from any machine that reaches the nodes:
  quorate restore --recover-cluster --bundle BUNDLE.yaml --store s3://backups/prod --s3-endpoint https://s3.example.com --snapshot etcd-20300102T150405Z.snapshot.age --node-endpoint 192.0.2.11 --node-endpoint 192.0.2.12 --node-endpoint 192.0.2.13
`

// covers: C-24, C-38
func TestWholePlan(t *testing.T) {
	b := known()
	p, err := planned(t, b, Request{}, world()...)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := p.WriteText(&text); err != nil || text.String() != wholePlan {
		t.Errorf("%v, got\n%s\nwant\n%s", err, text.String(), wholePlan)
	}
	if len(p.Blocked) != 0 || len(p.Unknown) != 0 || p.ConfirmName != "prod" || !p.OverrideRequired || p.ControllerOn != "cp-b" || p.Target != "cp-a" {
		t.Errorf("%+v", p)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{`"confirm_name":"prod"`, `"override_required":true`, `"snapshot_time":"2030-01-02T15:04:05Z"`, `"controller_on":"cp-b"`, `"vanish":{"objects":1,"groups":[{"kind":"pods","namespace":"shop","objects":1,"names":["late"]}]}`} {
		if !strings.Contains(string(data), field) {
			t.Errorf("%s is not in %s", field, data)
		}
	}
	if b.closed != 1 || len(b.deadlines) != 0 {
		t.Errorf("closed %d times, without a deadline: %v", b.closed, b.deadlines)
	}
}

// What cannot be read is said, and the rest is planned all the same.
func TestUnknown(t *testing.T) {
	denied := errors.New("get Secret default/keys: you may not read it")
	for _, tt := range []struct {
		name string
		b    *beyond
		want []string
	}{
		{"nothing beyond is asked", nil, nil},
		{"all is denied", &beyond{fails: map[string]error{"then": denied, "secrets": denied, "marker": denied, "now": denied}}, []string{
			"What is recorded beside the snapshot could not be read: get Secret default/keys: you may not read it.",
			"The CAs and the key of the backups could not be compared: get Secret default/keys: you may not read it.",
			"Whether another restore has begun could not be read: get Secret default/keys: you may not read it.",
			"etcd's revision and alarms could not be read: get Secret default/keys: you may not read it."}},
		{"the snapshot", &beyond{then: Then{Time: taken}, fails: map[string]error{"keys then": denied, "found": denied}},
			[]string{"What the controllers will find after the rewind could not be read in the snapshot: get Secret default/keys: you may not read it.",
				"Objects of now and of the snapshot could not be compared: list the objects of the snapshot: get Secret default/keys: you may not read it."}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := planned(t, tt.b, Request{}, world()...)
			if err != nil || !slices.Equal(p.Unknown, tt.want) || p.Objects != nil || len(p.Blocked) != 0 || len(p.Steps) != 9 {
				t.Errorf("%v, got %q", err, p.Unknown)
			}
		})
	}
	closedDoor := func(context.Context, *v1alpha1.TalosCluster, *v1alpha1.TalosEtcdBackup, []v1alpha1.TalosMachine) (Beyond, error) {
		return nil, denied
	}
	p, err := Make(t.Context(), apiServer(t, nil, world()...), closedDoor, Request{Namespace: "default"}, later)
	if err != nil || !slices.Equal(p.Unknown, []string{"The snapshot and etcd could not be looked at: get Secret default/keys: you may not read it."}) {
		t.Errorf("%v, %v", p, err)
	}
}

// An API server that does not answer ends it; pods that may not be listed do not.
func TestDeafServer(t *testing.T) {
	deaf := errors.New("the API server is away")
	list := func(l client.ObjectList) error {
		if _, ok := l.(*v1alpha1.TalosMachineList); ok {
			return deaf
		}
		return nil
	}
	if _, err := Make(t.Context(), apiServer(t, list, world()...), nil, Request{Namespace: "default"}, later); !errors.Is(err, deaf) || err.Error() != "list the TalosMachines in default: the API server is away" {
		t.Errorf("got %v", err)
	}
	pods := func(l client.ObjectList) error {
		if _, ok := l.(*corev1.PodList); ok {
			return errors.New("you may not list pods")
		}
		return nil
	}
	p, err := Make(t.Context(), apiServer(t, pods, world()...), nil, Request{Namespace: "default"}, later)
	if err != nil || !slices.Equal(p.Unknown, []string{"Where this controller runs could not be found out: list the manager's pods: you may not list pods."}) {
		t.Errorf("%v, %+v", err, p)
	}
}
