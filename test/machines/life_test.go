package machines

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/drain"
	"github.com/quorate/quorate/internal/kube"
	"github.com/quorate/quorate/internal/lease"
	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/reconcilers/cluster"
	"github.com/quorate/quorate/reconcilers/etcd"
	"github.com/quorate/quorate/reconcilers/machine"
	"github.com/quorate/quorate/test/world"
)

// life is one process of the controllers of TalosClusters and TalosMachines, for one
// namespace, as the manager puts them together.
type life struct {
	*mortal
	ended chan error

	mu  sync.Mutex
	log []string
}

// live starts one that can be doomed while it removes a machine.
func live(ns, removed string) (*life, error) {
	access, err := shared.Access(world.Controller)
	if err != nil {
		return nil, err
	}
	scheme, err := etcd.Scheme()
	if err != nil {
		return nil, err
	}
	options := etcd.CacheOptions()
	options.DefaultNamespaces = map[string]cache.Config{ns: {}}
	l := &life{mortal: newMortal(), ended: make(chan error, 1)}
	mgr, err := ctrl.NewManager(l.config(access.Config, ""), manager.Options{
		Scheme: scheme, Cache: options, Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return nil, err
	}
	plane := controlplane.New(mgr.GetAPIReader(), talos.Timeouts{})
	if err := l.clusters(mgr, plane); err != nil {
		return nil, err
	}
	own := l.config(access.Config, removed)
	c, err := client.New(own, client.Options{Scheme: scheme})
	if err != nil {
		return nil, err
	}
	set, err := kubernetes.NewForConfig(own)
	if err != nil {
		return nil, err
	}
	if err := l.machines(mgr, plane, c, set); err != nil {
		return nil, err
	}
	go func() { l.ended <- mgr.Start(l.life) }()
	return l, nil
}

// identity is the lock's holder: the same process, however often it is started.
const identity = "system:serviceaccount:" + world.Namespace + ":" + world.ServiceAccount

func (l *life) clusters(mgr ctrl.Manager, plane *controlplane.Access) error {
	locks := &lease.Locks{Live: mgr.GetAPIReader(), Client: mgr.GetClient(), Clock: clock.RealClock{}, Identity: identity}
	r := &cluster.Reconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Events: mgr.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: l.logger("taloscluster"), Plane: &doorToPlane{plane, l.mortal, ""}, Dial: l.dialUncounted(plane), Lock: cluster.LockBy(locks),
	}
	return r.Setup(mgr)
}

func (l *life) machines(mgr ctrl.Manager, plane *controlplane.Access, c client.Client, set kubernetes.Interface) error {
	engine, err := judge()
	if err != nil {
		return err
	}
	objects, err := kube.NewLive(mgr.GetConfig(), v1alpha1.GroupVersion)
	if err != nil {
		return err
	}
	locks := &lease.Locks{Live: mgr.GetAPIReader(), Client: c, Clock: clock.RealClock{}, Identity: identity}
	r := &machine.Reconciler{
		Client: c, Live: mgr.GetAPIReader(), Events: l.recorder(set, mgr.GetScheme()), Clock: clock.RealClock{},
		Log: l.logger("talosmachine"), Plane: &doorToPlane{plane, l.mortal, "view of etcd"}, Dial: l.dial(plane), Lock: machine.LockBy(locks),
		Judge: engine, Objects: objects, Drainer: &drain.Drainer{Client: set},
	}
	return r.Setup(mgr)
}

// recorder writes events by way of the process's own door.
func (l *life) recorder(set kubernetes.Interface, scheme *runtime.Scheme) events.EventRecorder {
	b := events.NewBroadcaster(&events.EventSinkImpl{Interface: set.EventsV1()})
	context.AfterFunc(l.life, b.Shutdown)
	quiet := klog.NewContext(l.life, logr.Discard())
	_ = b.StartRecordingToSinkWithContext(quiet) // it fails for a broadcaster that was shut down
	return b.NewRecorder(scheme, "quorate")
}

// judge has the admission rules.
var judge = sync.OnceValues(func() (*cel.Engine, error) {
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		return nil, err
	}
	catalogue.Group = v1alpha1.Group
	crds, err := manifests.LoadCRDs()
	if err != nil {
		return nil, err
	}
	return cel.New(catalogue, crds)
})

// end kills the process, unless it is dead, and waits until nothing of it is left.
func (l *life) end() error {
	l.die()
	return <-l.ended
}

func (l *life) logger(name string) logr.Logger {
	return funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log = append(l.log, fmt.Sprintf("%s %s %s", time.Now().Format("15:04:05.000"), name, line))
	}, funcr.Options{})
}

// tail is the end of its log.
func (l *life) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return tail(strings.Join(l.log, "\n"), 30)
}
