package manager

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/drain"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/reconcilers/machine"
)

// machines sets up what follows TalosMachines.
func (c *controllers) machines(m ctrl.Manager) error {
	objects, err := kube.NewLive(m.GetConfig(), v1alpha1.GroupVersion)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfigAndClient(m.GetConfig(), m.GetHTTPClient())
	if err != nil {
		return err
	}
	plane := controlplane.New(m.GetAPIReader(), talos.Timeouts{})
	locks := &lease.Locks{Live: m.GetAPIReader(), Client: m.GetClient(), Clock: clock.RealClock{}, Identity: c.options.Identity()}
	r := &machine.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: c.options.Log.WithName("machine"), Plane: plane, Judge: c.engine, Objects: objects, Drainer: &drain.Drainer{Client: client},
		Dial: func(b *talos.Bundle, m *v1alpha1.TalosMachine, r talos.Role) (machine.Node, error) { return plane.Dial(b, m, r) },
		Lock: func(ctx context.Context, cluster types.NamespacedName, operation string) (machine.Hold, error) {
			return locks.Take(ctx, cluster, operation)
		},
	}
	return r.Setup(m)
}
