package manager

import (
	"fmt"

	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/drain"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/reconcilers/cluster"
	"github.com/quorate/quorate/reconcilers/machine"
)

// talosClusters sets up what follows TalosClusters and TalosMachines.
func (c *controllers) talosClusters(m term) error {
	clusters := &cluster.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: c.options.Log.WithName("taloscluster"), Plane: m.plane, Dial: cluster.DialBy(m.plane), Lock: cluster.LockBy(m.locks),
		Grace: c.options.UnknownMemberGrace, Metrics: c.clusterMetrics, Gate: m.gate,
	}
	if err := clusters.Setup(m.Manager); err != nil {
		return err
	}
	return c.talosMachines(m)
}

func (c *controllers) talosMachines(m term) error {
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
		Log: c.options.Log.WithName("talosmachine"), Plane: m.plane, Dial: machine.DialBy(m.plane), Lock: machine.LockBy(m.locks),
		Judge: c.engine, Objects: objects, Drainer: &drain.Drainer{Client: client}, Gate: m.gate,
	}
	return machines.Setup(m.Manager)
}
