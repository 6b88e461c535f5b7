package machines

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// Without its bundle a machine stays and says what is wrong with the Secret; with it,
// the deletion goes on.
//
// covers: B-11, B-13
func TestBundleMissingThenBrokenThenRight(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.count(1)
	must(t, admin.Delete(t.Context(), &corev1.Secret{ObjectMeta: f.meta(secretName)}))
	must(t, f.deleteAs(controller, "cp-3")) // admission goes by a report that ends with the bundle
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, secretName)
	if c := f.condition("cp-3"); c.Status != "False" {
		t.Errorf("a removal that failed is %s", c.Status)
	}
	f.keys([]byte("certs: [\n"))
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, secretName, "it is no YAML")
	f.nothingHappens()
	f.keys(f.talos.Bundle())
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}

// denied is the answer to a role that may not make a call.
var denied = status.Error(codes.PermissionDenied, "not authorized")

// One survivor may not remove the member: another one does it.
//
// covers: B-5
func TestOneSurvivorDenies(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	f.talos.Node("cp-3").Fault(talos.Answer(leave, denied))
	f.talos.Node("cp-1").Fault(talos.Answer(remove, denied))
	f.count(1)
	f.delete("cp-3")
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.leftEtcd("cp-3", id)
	f.askedOnce()
}

// Nobody removes the member: the machine says who said what, and is held.
//
// covers: B-6
func TestEverybodyDenies(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	id := f.id("cp-3")
	var lifts []func()
	for _, n := range f.talos.ControlPlanes() {
		for _, call := range []string{leave, remove, forfeit} {
			lifts = append(lifts, n.Fault(talos.Answer(call, denied)))
		}
	}
	f.count(1)
	f.delete("cp-3")
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, "cp-1", f.talos.Node("cp-3").IP, "the node denies it", "not authorized")
	f.keeps(pause, "cp-1", "cp-2", "cp-3")
	f.told("cp-3", v1alpha1.EventEtcdMemberRemovalFailed)
	for _, lift := range lifts {
		lift()
	}
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.leftEtcd("cp-3", id)
	f.askedOnce()
}

// A machine whose certificate ended, or is another authority's, is not Ready and says
// why. Who answers there with a healthy member behind it is not known, so that its
// deletion touches nothing before that is right.
func TestCertificatesThatDoNotServe(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	n, id := f.talos.Node("cp-3"), f.id("cp-3")
	restore, err := n.PresentExpired()
	must(t, err)
	f.unready("cp-3", v1alpha1.ReasonMachineUnreachable, "a certificate is not valid at this time")
	restore()
	f.readyMachine("cp-3")
	other, err := talos.New(t.Context(), talos.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, other.Stop()) })
	restore, err = n.PresentAnother(other)
	must(t, err)
	f.unready("cp-3", v1alpha1.ReasonMachineUnreachable, "the certificates are of another authority")
	f.count(1)
	f.delete("cp-3")
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, n.IP, "the certificates are of another authority")
	f.nothingHappens()
	restore()
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
	f.leftEtcd("cp-3", id)
}

// unready waits for the machine's Ready to say why not, after it is asked to look.
func (f *fleet) unready(name, reason string, texts ...string) {
	f.t.Helper()
	f.look(name)
	f.untilMachine(name, "not to be ready", func(m *v1alpha1.TalosMachine) error {
		return says(m.Status.Conditions, v1alpha1.ConditionReady, reason, texts...)
	})
}
