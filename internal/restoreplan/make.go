package restoreplan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/snapshot"
)

// Request is what somebody would like to restore. An empty cluster or backup is the only
// one there is, an empty snapshot the newest.
type Request struct {
	Namespace, Cluster, Backup, Snapshot string
	WithoutUndo, AllowUnconditionalStore bool
	// Installation is the namespace of the manager.
	Installation string
	// Quorate is the version of this program.
	Quorate string
}

// Beyond is what lies behind Secrets and outside the API server. Each of it may be denied
// to the caller, and then is left out of the plan.
type Beyond interface {
	// Secrets reads the cluster's secrets bundle.
	Secrets(ctx context.Context) (Secrets, error)
	// Then is what is recorded beside a snapshot. ErrNotWhole if nothing is.
	Then(ctx context.Context, snapshot string) (Then, error)
	// Marker is that of a restore that has begun; nil if none has.
	Marker(ctx context.Context) (*restoring.OtherMarker, error)
	// Now asks the cluster's etcd.
	Now(ctx context.Context) (Now, error)
	// Found is what is in a snapshot.
	Found(ctx context.Context, name string) (snapshot.Inspection, error)
	// KeysThen and KeysNow are the keys below a prefix, sorted, of the snapshot and of
	// etcd as it is now. A list ends with its first error.
	KeysThen(ctx context.Context, snapshot, prefix string) iter.Seq2[string, error]
	KeysNow(ctx context.Context, prefix string) iter.Seq2[string, error]
	// Reported is what a machine calls its Node, empty if it does not say.
	Reported(ctx context.Context, m *v1alpha1.TalosMachine) string
	// Close gives up what is open.
	Close() error
}

// ErrNotWhole: nothing is recorded beside the snapshot, so that it is not whole.
var ErrNotWhole = errors.New("the store has no such snapshot that is whole")

// Open reaches what lies behind the Secrets of a cluster and one of its backups.
type Open func(ctx context.Context, cluster *v1alpha1.TalosCluster, backup *v1alpha1.TalosEtcdBackup, machines []v1alpha1.TalosMachine) (Beyond, error)

// Bounds of one question beyond the API server, and of one that takes the whole snapshot.
const (
	askTimeout     = 30 * time.Second
	compareTimeout = 10 * time.Minute
)

// Make reads and plans. It fails with ErrChoice if it is open what is to be restored, and
// if the API server does not answer; that the caller may not do something is no failure.
// Without open, nothing beyond the API server is asked.
func Make(ctx context.Context, kube client.Reader, open Open, r Request, now time.Time) (*Plan, error) {
	f := &facts{request: r, now: now}
	for _, read := range []func(context.Context, client.Reader) error{f.readChoice, f.readMachines, f.readOperations} {
		if err := read(ctx, kube); err != nil {
			return nil, err
		}
	}
	beyond, err := f.open(ctx, open)
	if err != nil {
		f.missing("The snapshot and etcd could not be looked at", err)
	}
	if beyond != nil {
		defer func() { _ = beyond.Close() }() // nothing was written
		f.ask(ctx, beyond)
	}
	f.readOwn(ctx, kube, beyond)
	return f.plan(), nil
}

func (f *facts) open(ctx context.Context, open Open) (Beyond, error) {
	if open == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	return open(ctx, f.cluster, f.backup, f.machines)
}

func (f *facts) missing(what string, err error) {
	f.unknown = append(f.unknown, fmt.Sprintf("%s: %v.", what, err))
}

func (f *facts) readChoice(ctx context.Context, kube client.Reader) (err error) {
	if f.cluster, err = pickCluster(ctx, kube, f.request.Namespace, f.request.Cluster); err != nil {
		return err
	}
	if f.backup, err = pickBackup(ctx, kube, f.cluster, f.request.Backup); err != nil {
		return err
	}
	f.snapshot, f.listed, err = pickSnapshot(f.backup, f.request.Snapshot)
	return err
}

// readMachines also gives etcd's revision: that of a list is the store's own.
func (f *facts) readMachines(ctx context.Context, kube client.Reader) error {
	var list v1alpha1.TalosMachineList
	if err := kube.List(ctx, &list, client.InNamespace(f.cluster.Namespace)); err != nil {
		return fmt.Errorf("list the TalosMachines in %s: %w", f.cluster.Namespace, err)
	}
	f.machines = slices.DeleteFunc(list.Items, func(m v1alpha1.TalosMachine) bool { return m.Spec.ClusterRef.Name != f.cluster.Name })
	slices.SortFunc(f.machines, func(a, b v1alpha1.TalosMachine) int { return strings.Compare(a.Name, b.Name) })
	f.revision, _ = strconv.ParseInt(list.ResourceVersion, 10, 64) // 0 if it is none: not known
	return nil
}

func (f *facts) readOperations(ctx context.Context, kube client.Reader) error {
	var list v1alpha1.TalosOperationList
	if err := kube.List(ctx, &list, client.InNamespace(f.cluster.Namespace)); err != nil {
		return fmt.Errorf("list the TalosOperations in %s: %w", f.cluster.Namespace, err)
	}
	for _, o := range list.Items {
		if o.Spec.ClusterRef.Name == f.cluster.Name && o.Status.Phase != v1alpha1.PhaseCompleted {
			f.unfinished = append(f.unfinished, restoring.Unfinished{Name: o.Name, Phase: o.Status.Phase})
		}
	}
	return nil
}

// readOwn finds the controller's machine. That it could not be looked for is said, since
// then nothing in the plan says whose wipe ends the controller.
func (f *facts) readOwn(ctx context.Context, kube client.Reader, beyond Beyond) {
	name, err := ControllerNode(ctx, kube, f.request.Installation, f.cluster.Namespace)
	if err != nil {
		f.missing("Where this controller runs could not be found out", err)
	}
	if name == "" {
		return
	}
	node := &corev1.Node{}
	if err := kube.Get(ctx, types.NamespacedName{Name: name}, node); err != nil {
		node = nil // then its addresses say nothing
	}
	var reported Reported
	if beyond != nil {
		reported = beyond.Reported
	}
	f.own = MachineOf(ctx, f.machines, name, node, reported)
}
