package machines

import (
	"bytes"
	"context"
	"testing"

	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v4"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/talos"
)

// foreign is a control plane of another Talos cluster, with a bundle of its own or this.
func (f *fleet) foreign(bundle []byte) *talos.Node {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	other, err := talos.Start(ctx, talos.Options{ControlPlanes: 1, Bundle: bundle})
	must(f.t, err)
	f.t.Cleanup(func() { must(f.t, other.Stop()) })
	return other.Node("cp-1")
}

// as names the machine of a node that is not this fleet's.
func as(name string) func(*v1alpha1.TalosMachine) {
	return func(m *v1alpha1.TalosMachine) { m.Name, m.Spec.Hostname = name, name }
}

// untouched wants the other cluster to be as it was.
func (f *fleet) untouched(n *talos.Node) {
	f.t.Helper()
	must(f.t, n.Voting(f.t.Context()))
	for _, c := range n.Calls() {
		if changes(c.Method) {
			f.t.Errorf("another cluster's node was asked:%s", tell([]talos.Call{c}))
		}
	}
}

// The endpoint leads to a node of another Talos cluster: the machine says so, and its
// deletion touches neither cluster.
func TestEndpointOfAnotherCluster(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 1})
	theirs := f.foreign(nil)
	f.approve(theirs, as("cp-9"))
	f.unready("cp-9", v1alpha1.ReasonMachineUnreachable, "the certificates are of another authority")
	f.delete("cp-9")
	f.gone("cp-9")
	f.untouched(theirs)
	f.asked()
	f.lists("cp-1")
}

// The same with a node that trusts this cluster's keys, as after somebody has used one
// bundle for two clusters: the ID of the Talos cluster tells.
func TestEndpointOfAnotherClusterWithTheSameKeys(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 1})
	theirs := f.foreign(renamed(t, f.talos.Bundle()))
	f.approve(theirs, as("cp-9"))
	f.unready("cp-9", v1alpha1.ReasonOtherCluster, "the node is of another cluster")
	f.delete("cp-9")
	f.gone("cp-9")
	f.untouched(theirs)
	f.asked()
	f.lists("cp-1")
}

// renamed is the bundle with another cluster's ID.
func renamed(t *testing.T, bundle []byte) []byte {
	t.Helper()
	b := &secrets.Bundle{Clock: secrets.NewClock()}
	must(t, yaml.NewDecoder(bytes.NewReader(bundle)).Decode(b))
	fresh, err := secrets.NewBundle(secrets.NewClock(), nil)
	must(t, err)
	b.Cluster = fresh.Cluster
	out, err := yaml.Marshal(b)
	must(t, err)
	return out
}

// Somebody puts another cluster's bundle into the Secret: the machines turn away, and a
// deletion touches nothing until it is right again.
//
// covers: B-13
func TestBundleOfAnotherCluster(t *testing.T) {
	t.Parallel()
	f := newFleet(t, plan{controlPlanes: 3})
	other, err := talos.New(t.Context(), talos.Options{})
	must(t, err)
	t.Cleanup(func() { must(t, other.Stop()) })
	f.count(1)
	f.keys(other.Bundle())
	must(t, f.deleteAs(controller, "cp-3")) // admission goes by a report that ends with the bundle
	f.removal("cp-3", v1alpha1.ReasonEtcdMemberRemovalFailed, "the certificates are of another authority")
	f.nothingHappens()
	f.keys(f.talos.Bundle())
	f.gone("cp-3")
	f.lists("cp-1", "cp-2")
	f.asked("cp-3 EtcdLeaveCluster")
}
