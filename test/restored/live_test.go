package restored

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/s3"
)

// TestLiveRestore: a cluster is restored by the controller that runs in it, on a worker,
// from its own backup. The operation is lost with the rewind and comes back; what was
// deleted by mistake is there again, what came later is gone, and every machine is Ready.
// An informer on the worker, which is not wiped, sees all of it without a restart.
//
// covers: C-16, C-17, C-22, C-25
func TestLiveRestore(t *testing.T) {
	var seen cache.Store
	done := restoreLive(t, "on-a-worker", play{
		before: func() { seen = informs(t, "worker-1") },
	})
	t.Logf("%s", done.Status.EtcdRestore.Message)
	must(t, cluster.Until(within(t), "the informer on worker-1 to see the rewound world", func(context.Context) error {
		for name, want := range map[string]string{"kept": "before", "deleted-by-mistake": "before", "later": ""} {
			if got := textIn(seen, name); got != want {
				return fmt.Errorf("%w: it has %q in %s, and %q is there", errNotYet, got, name, want)
			}
		}
		return nil
	}))
}

// TestContainerIsKilled: the manager's container is killed while no API server answers. It
// is started again in its pod, and goes on from the folder before it can ask anybody.
//
// covers: C-27
func TestContainerIsKilled(t *testing.T) {
	restoreLive(t, "killed", play{away: func() { must(t, shared.KillContainer()) }})
}

// TestControllerOnAControlPlane: the machine that the controller runs on leaves etcd first
// and is wiped last. Its pod and its folder go with it.
//
// covers: C-19, C-20
func TestControllerOnAControlPlane(t *testing.T) {
	move := func(to string) {
		ctx := within(t)
		shared.MoveManager(to)
		must(t, shared.DeletePod(ctx))
		until(t, "the manager to be on "+to, func() bool { _, at, _, err := shared.Manager(); return err == nil && at == to })
		must(t, shared.ManagerReady(ctx))
		must(t, shared.Reconciles(ctx, "worker-1"))
	}
	move("cp-2")
	left := len(shared.Calls("EtcdLeaveCluster"))
	restoreLive(t, "on-a-control-plane", play{})
	if calls := shared.Calls("EtcdLeaveCluster")[left:]; len(calls) != 1 || calls[0].Node != "cp-2" {
		t.Errorf("asked to leave: %+v, want cp-2 alone", calls)
	}
	if calls := shared.Calls("Reset"); calls[len(calls)-1].Node != "cp-2" {
		t.Errorf("wiped last: %s, want cp-2", calls[len(calls)-1].Node)
	}
	move("worker-1")
}

// play is what happens in the course of a restore; each of it may be nil.
type play struct{ before, away func() }

// restoreLive takes a backup, changes objects, and has the controller restore it.
func restoreLive(t *testing.T, name string, p play) *v1alpha1.TalosOperation {
	t.Helper()
	ctx := within(t)
	must(t, shared.Ready(ctx))
	must(t, shared.Write(ctx, "kept", "before"))
	must(t, shared.Write(ctx, "deleted-by-mistake", "before"))
	snapshot, err := shared.TakeBackup(ctx, Backup)
	must(t, err)
	if p.before != nil {
		p.before()
	}
	must(t, shared.Write(ctx, "kept", "after"))
	must(t, shared.Delete(ctx, "deleted-by-mistake"))
	must(t, shared.Write(ctx, "later", "after"))
	resets := len(shared.Calls("Reset"))

	order := Order(name, Backup, snapshot)
	must(t, shared.Client.Create(ctx, order))
	must(t, shared.AtStep(ctx, order.Name, v1alpha1.StepWiping))
	must(t, shared.Away(ctx))
	if p.away != nil {
		p.away()
	}
	must(t, shared.Back(ctx))
	done, err := shared.Completed(within(t), order.Name)
	must(t, err)
	if done.UID == order.UID {
		t.Error("the operation is the one of before: nothing was rewound")
	}
	has(t, "kept", "before")
	has(t, "deleted-by-mistake", "before")
	has(t, "later", "")
	must(t, shared.Ready(within(t)))
	if got := len(shared.Calls("Reset")) - resets; got < 3 || got > 3+extraWipes(done) {
		t.Errorf("there were %d resets, want 3 and those that are told: %s", got, done.Status.EtcdRestore.Message)
	}
	return done
}

// extraWipes are those that an operation tells of at its end.
func extraWipes(o *v1alpha1.TalosOperation) (n int) {
	for _, sentence := range strings.Split(o.Status.EtcdRestore.Message, ". ") {
		if _, err := fmt.Sscanf(sentence, "%d wipes were needed", &n); err == nil {
			return n
		}
	}
	return 0
}

// informs opens an informer of ConfigMaps through a machine's address of the Service, and
// waits until it has read them.
func informs(t *testing.T, machine string) cache.Store {
	t.Helper()
	config, err := shared.Config()
	must(t, err)
	config = rest.CopyConfig(config)
	config.Host = "https://" + shared.Talos.Node(machine).ServiceAddress()
	api, err := kubernetes.NewForConfig(config)
	must(t, err)
	factory := informers.NewSharedInformerFactoryWithOptions(api, 0, informers.WithNamespace(Users))
	informer := factory.Core().V1().ConfigMaps().Informer()
	factory.StartWithContext(t.Context())
	if !cache.WaitForCacheSync(within(t).Done(), informer.HasSynced) {
		t.Fatal("the informer has read nothing")
	}
	return informer.GetStore()
}

// textIn is a user's object in an informer's store; empty if it is not there.
func textIn(s cache.Store, name string) string {
	o, ok, err := s.GetByKey(Users + "/" + name)
	if err != nil || !ok {
		return ""
	}
	for _, text := range o.(*corev1.ConfigMap).Data {
		return text
	}
	return ""
}

// objectStore is a process with one bucket, behind a proxy that sees each request.
type objectStore struct {
	*s3.Server
	proxy *s3.Proxy
}

// objects is the store of all tests here.
var objects objectStore

// startStore runs the object store, and declares the backup that keeps snapshots there.
func startStore(ctx context.Context, dir string) (objectStore, error) {
	binary, err := s3.Binary(ctx, os.Stderr)
	if err != nil {
		return objectStore{}, err
	}
	server, err := s3.Start(ctx, binary, dir)
	if err != nil {
		return objectStore{}, err
	}
	proxy, err := s3.NewProxy(server.Endpoint, false)
	if err != nil {
		return objectStore{}, errors.Join(err, server.Stop())
	}
	o := objectStore{server, proxy}
	if err := shared.declareStore(ctx, server, proxy.URL); err != nil {
		return o, errors.Join(err, o.end())
	}
	return o, nil
}

func (o objectStore) end() error {
	o.proxy.Close()
	return o.Stop()
}
