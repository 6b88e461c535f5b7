package manager

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/drain"
	"github.com/quorate/quorate/internal/epoch"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/reconcilers/cluster"
	"github.com/quorate/quorate/reconcilers/machine"
)

// talosClusters sets up what follows TalosClusters and TalosMachines. They share what
// they read secrets bundles into, and the locks.
func (c *controllers) talosClusters(m ctrl.Manager, gate *epoch.Gate) error {
	plane := controlplane.New(m.GetAPIReader(), talos.Timeouts{})
	locks := &lease.Locks{Live: m.GetAPIReader(), Client: m.GetClient(), Clock: clock.RealClock{}, Identity: c.options.Identity()}
	clusters := &cluster.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: c.options.Log.WithName("taloscluster"), Plane: plane, Dial: cluster.DialBy(plane), Lock: cluster.LockBy(locks),
		Grace: c.options.UnknownMemberGrace, Metrics: c.clusterMetrics, Gate: gate,
	}
	if err := clusters.Setup(m); err != nil {
		return err
	}
	return c.talosMachines(m, plane, locks, gate)
}

func (c *controllers) talosMachines(m ctrl.Manager, plane *controlplane.Access, locks *lease.Locks, gate *epoch.Gate) error {
	objects, err := kube.NewLive(m.GetConfig(), v1alpha1.GroupVersion)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("make a client for drains: %w", err)
	}
	machines := &machine.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: c.options.Log.WithName("talosmachine"), Plane: plane, Dial: machine.DialBy(plane), Lock: machine.LockBy(locks),
		Judge: c.engine, Objects: objects, Drainer: &drain.Drainer{Client: client}, Gate: gate,
	}
	return machines.Setup(m)
}
