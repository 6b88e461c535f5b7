package why

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/quorate/quorate/cel"
)

func TestRun(t *testing.T) {
	const override = "override talosclusters quorate.dev data c"
	restore := `
kind: TalosOperation
metadata: {name: o, namespace: data}
spec: {kind: etcd-restore, clusterRef: {name: c}, etcdRestore: {backupRef: {name: b}, snapshot: etcd-20260101T000000Z.snapshot.age, confirm: c}}
`
	backup := map[string]map[string]any{"talosetcdbackups/b": quorate(t, "kind: TalosEtcdBackup\nmetadata: {name: b}\nspec: {clusterRef: {name: c}}").Object}
	noOverride := "Restoring cluster c is refused: alice does not hold the verb override on talosclusters.quorate.dev c. Ask an administrator to grant it, for instance with the ClusterRole quorate-override. (restore-needs-override)"
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "quorate.dev", Resource: "talosoperations"}, "o",
		errors.New(`User "alice" cannot create resource "talosoperations" in API group "quorate.dev" in the namespace "data"`))
	for _, tc := range []struct {
		name   string
		server server
		ask    Ask
		object string
		want   string
		notes  string
	}{
		{name: "the CRD refuses, and so would the others", server: server{user: "alice", live: quorate(t, scalingIn), answers: []error{crdRefusal()}},
			object: "kind: Etcd\nmetadata: {name: a}\nspec: {replicas: 5}",
			want: `etcds.quorate.dev/a UPDATE by alice: deny
rbac allow server
schema allow server
crd deny server scale-out-blocked ` + noScaleOut + `
vap deny computed scale-out-blocked ` + noScaleOut + `
webhook deny computed scale-out-blocked ` + noScaleOut},
		{name: "scaled by the subresource", server: server{user: "alice", live: quorate(t, scalingIn), answers: []error{crdRefusal()}},
			ask: Ask{Subresource: cel.Scale, Replicas: ptr.To[int32](5)}, object: "kind: Etcd\nmetadata: {name: a}",
			want: `etcds.quorate.dev/a UPDATE scale by alice: deny
rbac allow server
schema allow server
crd deny server scale-out-blocked ` + noScaleOut + `
vap allow computed not asked: a policy does not see the object behind a scale request
webhook deny computed scale-out-blocked ` + noScaleOut},
		{name: "allowed, though no layer seems to be installed", server: server{user: "alice", live: quorate(t, scalingIn)},
			object: "kind: Etcd\nmetadata: {name: a}\nspec: {replicas: 5}",
			want: `etcds.quorate.dev/a UPDATE by alice: allow
rbac allow server
schema allow server
crd allow server passed, though this version's rule scale-out-blocked refuses it: ` + noScaleOut + ` Is the layer installed? See quorate doctor.
vap allow server passed, though this version's rule scale-out-blocked refuses it: ` + noScaleOut + ` Is the layer installed? See quorate doctor.
webhook allow server passed, though this version's rule scale-out-blocked refuses it: ` + noScaleOut + ` Is the layer installed? See quorate doctor.`},
		{name: "allowed by all", server: server{user: "alice", live: quorate(t, scalingIn)},
			object: "kind: Etcd\nmetadata: {name: a}\nspec: {replicas: 1}",
			want: `etcds.quorate.dev/a UPDATE by alice: allow
rbac allow server
schema allow server
crd allow server
vap allow server
webhook allow server`},
		{name: "no right, and no override either", server: server{user: "alice", answers: []error{forbidden}, world: backup}, object: restore,
			want: `talosoperations.quorate.dev/o CREATE by alice: deny
rbac deny server User "alice" cannot create resource "talosoperations" in API group "quorate.dev" in the namespace "data"
schema not reached server
crd allow computed
vap deny computed restore-needs-override ` + noOverride + `
webhook deny computed restore-needs-override ` + noOverride},
		{name: "no right, but the override", server: server{user: "alice", answers: []error{forbidden}, world: backup, rights: map[string]bool{override: true}}, object: restore,
			want: `talosoperations.quorate.dev/o CREATE by alice: deny
rbac deny server User "alice" cannot create resource "talosoperations" in API group "quorate.dev" in the namespace "data"
schema not reached server
crd allow computed
vap allow computed
webhook allow computed`},
		{name: "what the webhook would read is out of reach", server: server{user: "alice", answers: []error{forbidden}, worldErr: errors.New("list talosoperations in data: forbidden"), rights: map[string]bool{override: true}}, object: restore,
			want: `talosoperations.quorate.dev/o CREATE by alice: deny
rbac deny server User "alice" cannot create resource "talosoperations" in API group "quorate.dev" in the namespace "data"
schema not reached server
crd allow computed
vap allow computed
webhook unknown computed list talosoperations in data: forbidden list talosoperations in data: forbidden`},
		{name: "the controller is exempt", server: server{user: controller, answers: []error{forbidden}, world: backup}, object: restore,
			want: `talosoperations.quorate.dev/o CREATE by ` + controller + `: deny
rbac deny server User "alice" cannot create resource "talosoperations" in API group "quorate.dev" in the namespace "data"
schema not reached server
crd allow computed
vap allow computed
webhook allow computed not asked: the controller is exempt`},
		{name: "a deletion", server: server{user: "alice", live: quorate(t, scalingIn), answers: []error{forbidden}}, ask: Ask{Delete: true},
			object: "kind: Etcd\nmetadata: {name: a}",
			want: `etcds.quorate.dev/a DELETE by alice: deny
rbac deny server User "alice" cannot create resource "talosoperations" in API group "quorate.dev" in the namespace "data"
schema not reached server
crd allow computed not asked: CRD rules do not run on DELETE
vap allow computed
webhook allow computed not asked: it has no rule for this request`},
		{name: "scaling what is not there", server: server{user: "alice", answers: []error{apierrors.NewNotFound(schema.GroupResource{Group: "quorate.dev", Resource: "etcds"}, "a")}},
			ask: Ask{Subresource: cel.Scale, Replicas: ptr.To[int32](5)}, object: "kind: Etcd\nmetadata: {name: a}",
			want: `etcds.quorate.dev/a UPDATE scale by alice: deny
rbac allow server
storage deny server etcds.quorate.dev "a" not found
schema not reached server
vap not reached server
webhook not reached server`},
		{name: "no right to look at the object", server: server{user: "alice", getErr: apierrors.NewForbidden(schema.GroupResource{Group: "quorate.dev", Resource: "etcds"}, "a", errors.New(`User "alice" cannot get resource "etcds" in API group "quorate.dev" in the namespace "data"`))},
			object: "kind: Etcd\nmetadata: {name: a}",
			want: `etcds.quorate.dev/a UPDATE by alice: deny
rbac deny server User "alice" cannot get resource "etcds" in API group "quorate.dev" in the namespace "data"
schema not reached server
vap not reached server
webhook not reached server`},
		{name: "who asks is not known", server: server{live: quorate(t, scalingIn), answers: []error{crdRefusal()}}, object: "kind: Etcd\nmetadata: {name: a}\nspec: {replicas: 5}",
			want: `etcds.quorate.dev/a UPDATE by : deny
rbac allow server
schema allow server
crd deny server scale-out-blocked ` + noScaleOut + `
vap unknown computed who asks is not known
webhook unknown computed who asks is not known`, notes: "policies and webhook cannot be computed, since the server did not say who asks: no idea"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			gate, err := theGate()
			if err != nil {
				t.Fatal(err)
			}
			tc.ask.Object = quorate(t, tc.object)
			tc.ask.Target = targetOf(tc.ask.Object)
			report, err := Run(context.Background(), Config{Server: &tc.server, Live: worldOf{&tc.server}, Gate: gate, Asks: []Ask{tc.ask}})
			if err != nil {
				t.Fatal(err)
			}
			c := report.Cases[0]
			head := c.Object + " " + strings.TrimSpace(string(c.Operation)+" "+c.Subresource) + " by " + c.User + ": " + string(c.Verdict)
			if got := head + "\n" + short(c.Rows); got != tc.want {
				t.Errorf("got\n%s\nwant\n%s", got, tc.want)
			}
			if got := strings.Join(c.Notes, "\n"); got != tc.notes {
				t.Errorf("notes %q, want %q", got, tc.notes)
			}
		})
	}
}
