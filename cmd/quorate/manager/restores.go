package manager

import (
	"context"
	"fmt"
	"net"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/epoch"
	marker "github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/restore/running"
	"github.com/quorate/quorate/internal/restoreplan"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
	"github.com/quorate/quorate/reconcilers/backup"
	"github.com/quorate/quorate/reconcilers/restore"
)

// restores are the jobs of live restores: they begin before anything that asks the API
// server, and outlive each term of the controllers.
type restores struct {
	jobs *running.Jobs

	mu sync.Mutex
	// gate is that of the term; nil before the first.
	gate *epoch.Gate
	on   map[types.NamespacedName]bool
}

func newRestores(o Options) (*restores, error) {
	r := &restores{on: map[types.NamespacedName]bool{}}
	jobs, err := running.New(running.Options{
		Dir: o.RestoreDir, KeysDir: o.RestoreKeysDir, Identity: o.Identity() + "@" + o.NodeName, NodeName: o.NodeName,
		Clock: clock.RealClock{}, Log: o.Log.WithName("restore"), Changed: r.changed, Limits: marker.Limits{Hold: o.RestoreHold},
	})
	r.jobs = jobs
	return r, err
}

// whileRestoring is what the gate says of a job of this process.
const whileRestoring = "this controller restores the cluster's etcd"

// whileLeft is what the gate says of a folder with a marker that no job is at work on.
func whileLeft(m *marker.Marker) string {
	return fmt.Sprintf("the folder of this controller has the marker of a restore of TalosCluster %s from %s (%s) that did not end here; if it is over, delete the controller's pod, which takes the folder with it",
		m.Cluster, m.Snapshot.Name, m.Step)
}

// changed keeps the gate of the term closed while a job runs, and while its folder has a
// marker: what a rewind made of the backup's settings may hide the one in the store.
func (r *restores) changed(cluster types.NamespacedName, running bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on[cluster] = running
	r.tell(cluster)
}

func (r *restores) tell(cluster types.NamespacedName) {
	if r.gate == nil {
		return
	}
	left := r.jobs.Left()[cluster]
	switch {
	case r.on[cluster]:
		r.gate.Close(cluster.Namespace, cluster.Name, whileRestoring)
	case left != nil:
		r.gate.Close(cluster.Namespace, cluster.Name, whileLeft(left))
	default:
		r.gate.Open(cluster.Namespace, cluster.Name)
	}
}

// term has a new gate know of the jobs that run and of the folders that are left, and
// looks with the latter whether their restores are over.
func (r *restores) term(gate *epoch.Gate) {
	r.begin(gate)
	r.jobs.Resume()
}

func (r *restores) begin(gate *epoch.Gate) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = gate
	for cluster, on := range r.on {
		if on {
			r.tell(cluster)
		}
	}
	for cluster := range r.jobs.Left() {
		r.tell(cluster)
	}
}

// run goes on with what the folders have, and ends the jobs with the process.
func (r *restores) run(ctx context.Context) error {
	r.jobs.Resume()
	<-ctx.Done()
	r.jobs.Stop()
	return nil
}

// access starts jobs with what the API server has of secrets.
type access struct {
	*restores
	live client.Reader
}

// Start implements restore.Jobs.
func (a access) Start(ctx context.Context, cluster *v1alpha1.TalosCluster, b *v1alpha1.TalosEtcdBackup, m *marker.Marker) error {
	name := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.SecretsBundleRef.Name}
	secret := &corev1.Secret{}
	if err := a.live.Get(ctx, name, secret); err != nil {
		return fmt.Errorf("get Secret %s: %w", name, err)
	}
	options, err := store.BackupOptions(ctx, a.live, b)
	if err != nil {
		return err
	}
	return a.jobs.Start(client.ObjectKeyFromObject(cluster), running.Access{Bundle: secret.Data["bundle"], Store: options}, m)
}

// Begun implements restore.Jobs.
func (a access) Begun(cluster types.NamespacedName) { a.changed(cluster, true) }

// State implements restore.Jobs.
func (a access) State(cluster types.NamespacedName) (restore.JobState, bool) {
	return a.jobs.State(cluster)
}

// End implements restore.Jobs.
func (a access) End(ctx context.Context, cluster types.NamespacedName) error {
	if err := a.jobs.End(ctx, cluster); err != nil {
		return err
	}
	a.changed(cluster, false)
	return nil
}

// talosOperations sets up what carries out TalosOperations.
func (c *controllers) talosOperations(m term) error {
	c.restores.term(m.gate)
	live, log := m.GetAPIReader(), c.options.Log.WithName("talosoperation")
	stores := restore.Stores(backup.StoresBy(live))
	r := &restore.Reconciler{
		Client: m.GetClient(), Live: live, Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{}, Log: log,
		Lock: restore.LockBy(m.locks), Stores: stores, Jobs: access{c.restores, live},
		Preparing: &restore.Preparer{
			Live: live, Plane: m.plane, Dial: dialNode(m.plane), Probe: probe, Secrets: secretsBy(live), Worker: &snapshot.Worker{},
			Undo: undoBy(c.backups), Folder: c.restores.jobs.Folder, StoreAt: restore.StoreAt(live, net.DefaultResolver.LookupHost),
			Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{}, Log: log, Version: c.options.Version, NodeName: c.options.NodeName, Hold: c.options.RestoreHold,
		},
		Recovered: recoveredBy(m.plane),
		Recover:   func(b *v1alpha1.TalosEtcdBackup) restoring.Recovery { return restoreplan.RecoveryOf(b, "", nil) },
	}
	if err := r.Setup(m.Manager); err != nil {
		return err
	}
	return m.Add(&restore.Resume{Client: m.GetClient(), Live: live, Events: m.GetEventRecorder("quorate"), Stores: stores, Recovered: r.Recovered, Log: log})
}

func dialNode(a *controlplane.Access) func(*talos.Bundle, *v1alpha1.TalosMachine) (restore.Node, error) {
	return func(b *talos.Bundle, m *v1alpha1.TalosMachine) (restore.Node, error) {
		node, err := a.Restorer(b, m)
		if err != nil {
			return nil, err
		}
		return node, nil
	}
}

func secretsBy(live client.Reader) func(context.Context, *v1alpha1.TalosCluster) (restore.Secrets, error) {
	return func(ctx context.Context, cluster *v1alpha1.TalosCluster) (restore.Secrets, error) {
		keys, err := backup.KeysOf(ctx, live, cluster)
		return restore.Secrets{Key: keys.Key, Authorities: keys.Authorities}, err
	}
}

// undoBy has the reconciler of backups take the snapshot that leads back.
func undoBy(r *backup.Reconciler) func(context.Context, restore.Order) (string, error) {
	return func(ctx context.Context, o restore.Order) (string, error) {
		return r.Undo(ctx, o.Backup, o.Operation.Name)
	}
}
