package machines

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/test/node"
	"github.com/quorate/quorate/test/talos"
)

// limit bounds what a test waits for at once.
const limit = 3 * time.Minute

// slots keep the Talos clusters that run at once to what two cores bear: their tests
// wait more than they work.
var slots = make(chan struct{}, 4)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var errNotYet = errors.New("not yet")

// fleet is one Talos cluster of a test, with its objects in a namespace of its own. Its
// Nodes are called by full names, and its etcd members by short ones.
type fleet struct {
	t        *testing.T
	ns       string
	name     string // of the TalosCluster
	plan     plan
	talos    *talos.Cluster
	kubelets *node.Kubelets
	story    *story
	formed   time.Time // when the last control plane became a voter
}

// plan is what a fleet begins with.
type plan struct {
	controlPlanes, workers int
	count                  int // declared; the control planes if it is 0
	// hostname is the machine's spec.hostname: left out if nil.
	hostname func(*talos.Node) string
	// strangers are nodes without a TalosMachine, and nameless ones have no Node.
	strangers, nameless []string
	timing              talos.Timing
}

// newFleet makes a fleet and waits until every machine is as asked.
func newFleet(t *testing.T, p plan) *fleet {
	t.Helper()
	f := newFleetUnready(t, p)
	f.ready()
	f.stays("all to be well", connected-time.Since(f.formed), func(context.Context) error { return nil })
	return f
}

// connected is how long members have to be connected before etcd takes a removal:
// "unhealthy cluster" is its answer before (HealthInterval of etcdserver, 5 s).
const connected = 6 * time.Second

// newFleetUnready does not wait for the machines' conditions, but for etcd.
func newFleetUnready(t *testing.T, p plan) *fleet {
	t.Helper()
	select {
	case slots <- struct{}{}:
	case <-t.Context().Done():
		t.Fatal(context.Cause(t.Context()))
	}
	t.Cleanup(func() { <-slots })
	if p.count == 0 {
		p.count = p.controlPlanes
	}
	f := &fleet{t: t, name: "factory", plan: p, ns: newNamespace(t)}
	f.boot()
	f.join()
	f.story = follow(t, f.ns)
	t.Cleanup(f.clear)
	f.declare()
	return f
}

// strange nodes have no TalosMachine, and nameless ones no Node.
func (f *fleet) strange(name string) bool { return slices.Contains(f.plan.strangers, name) }

func (f *fleet) without(name string) bool { return slices.Contains(f.plan.nameless, name) }

func newNamespace(t *testing.T) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "fleet-"}}
	must(t, admin.Create(t.Context(), ns))
	return ns.Name
}

// boot starts the Talos nodes.
func (f *fleet) boot() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), limit)
	defer cancel()
	c, err := talos.Start(ctx, talos.Options{
		ControlPlanes: f.plan.controlPlanes, Workers: f.plan.workers, Domain: f.ns + ".example.com", Timing: f.plan.timing,
	})
	must(f.t, err)
	f.talos, f.formed = c, time.Now()
	f.t.Cleanup(func() { must(f.t, c.Stop()) })
}
