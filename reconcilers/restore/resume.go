package restore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// Resume makes operations again that a rewind took, from the markers beside the backups.
// It begins anew with each term of the controllers: a rewind ends one. Where it does not,
// as of a cluster that the controllers do not run in, the API server's revision tells.
type Resume struct {
	Client client.Client
	Live   client.Reader
	Events events.EventRecorder
	Stores Stores
	// Recovered asks the etcd of a marker's target how it is.
	Recovered func(ctx context.Context, cluster *v1alpha1.TalosCluster, m *restore.Marker) (restore.Probe, error)
	Log       logr.Logger

	line epoch.Timeline

	// asked are the generations of the backups whose stores have said what they have;
	// broken is why the others' settings cannot be used.
	asked  map[types.UID]int64
	broken map[types.UID]string
	// told are the backups whose marker was told to be of a newer Quorate.
	told map[types.NamespacedName]bool
}

// NeedLeaderElection has it run where the controllers do, after webhook and caches.
func (*Resume) NeedLeaderElection() bool { return true }

func (r *Resume) backups(ctx context.Context) (list v1alpha1.TalosEtcdBackupList, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err = r.Live.List(ctx, &list); err != nil {
		return list, fmt.Errorf("list the backups: %w", err)
	}
	return list, nil
}

// passTimeout bounds one look at all backups.
const passTimeout = 2 * time.Minute

// Pass looks at every backup once. The error is what another pass may mend; a store whose
// settings are wrong is none of it.
func (r *Resume) Pass(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	list, err := r.backups(ctx)
	if err != nil {
		return err
	}
	r.line.Rewound(list.ResourceVersion) // this pass sees to it
	return r.look(ctx, list.Items)
}

// look looks at some backups, and keeps which of them have said what they have.
func (r *Resume) look(ctx context.Context, backups []v1alpha1.TalosEtcdBackup) error {
	if r.asked == nil {
		r.asked, r.broken = map[types.UID]int64{}, map[types.UID]string{}
	}
	var errs []error
	for i := range backups {
		b := &backups[i]
		s, err := r.Stores(ctx, b)
		if errors.Is(err, store.ErrSettings) {
			r.passOver(b, err)
			continue
		}
		if err == nil {
			err = r.backup(ctx, b, s)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("look for a restore beside backup %s/%s: %w", b.Namespace, b.Name, err))
			continue
		}
		r.asked[b.UID] = b.Generation
	}
	return errors.Join(errs...)
}

// passOver says once why a store cannot be used.
func (r *Resume) passOver(b *v1alpha1.TalosEtcdBackup, err error) {
	if r.broken[b.UID] != err.Error() {
		r.broken[b.UID] = err.Error()
		r.Log.Error(err, "a backup's store cannot be used, and is passed over until that is mended", "backup", b.Namespace+"/"+b.Name)
	}
}

// unasked are the backups that were made or changed since they were looked at, and those
// whose settings could not be used: what a rewind made of them may have hidden a marker.
func (r *Resume) unasked(backups []v1alpha1.TalosEtcdBackup) []v1alpha1.TalosEtcdBackup {
	return slices.DeleteFunc(backups, func(b v1alpha1.TalosEtcdBackup) bool {
		generation, ok := r.asked[b.UID]
		return ok && generation == b.Generation
	})
}

func (r *Resume) backup(ctx context.Context, b *v1alpha1.TalosEtcdBackup, s store.Store) error {
	bounded, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	m, version, err := (restore.Markers{Store: s}).Load(bounded)
	switch {
	case errors.Is(err, restore.ErrNoMarker):
		return nil
	case errors.Is(err, restore.ErrNewerMarker), errors.Is(err, restore.ErrMarker):
		r.tell(b, err)
		return nil
	case err != nil:
		return err
	}
	return r.operation(ctx, found{b, s, m, version})
}

// found is a marker beside a backup.
type found struct {
	backup  *v1alpha1.TalosEtcdBackup
	store   store.Store
	marker  *restore.Marker
	version store.Version
}

// tell says once that a marker is left alone.
func (r *Resume) tell(b *v1alpha1.TalosEtcdBackup, err error) {
	key := client.ObjectKeyFromObject(b)
	if r.told[key] {
		return
	}
	if r.told == nil {
		r.told = map[types.NamespacedName]bool{}
	}
	r.told[key] = true
	r.Log.Error(err, "a restore is left alone", "backup", key.String())
	r.Events.Eventf(b, nil, corev1.EventTypeWarning, v1alpha1.ReasonNewerMarker, "Restore", "%s", sentence(err))
}

// operation makes a marker's operation if there is none, and holds what came back beside
// it. The status is the reconciler's, which has it from the marker.
func (r *Resume) operation(ctx context.Context, f found) error {
	b, m := f.backup, f.marker
	op := &v1alpha1.TalosOperation{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: OperationName(m)}}
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(op), op)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	if err := r.rewound(ctx, f); err != nil {
		return err
	}
	op.Spec = orderOf(b, m)
	if m.Operation.Requester != "" {
		op.Annotations = map[string]string{v1alpha1.AnnotationRequestedBy: m.Operation.Requester}
	}
	if err := r.Client.Create(ctx, op); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make operation %s again: %w", op.Name, err)
	}
	r.Log.Info("made the operation of a restore again", "operation", op.Namespace+"/"+op.Name, "step", m.Step)
	r.Events.Eventf(op, nil, corev1.EventTypeNormal, v1alpha1.ReasonRestoreRecreated, "Restore", "%s",
		"The rewind took this operation, and it was made again from the marker beside the backups.")
	return nil
}

// orderOf is the order of before; or, if the restore was ordered by command line, one
// that says what was done.
func orderOf(b *v1alpha1.TalosEtcdBackup, m *restore.Marker) v1alpha1.TalosOperationSpec {
	if m.Operation.Name != "" && m.Operation.Spec.Kind != "" {
		return m.Operation.Spec
	}
	return v1alpha1.TalosOperationSpec{
		Kind: v1alpha1.OperationEtcdRestore, ClusterRef: b.Spec.ClusterRef,
		EtcdRestore: &v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: b.Name}, Snapshot: m.Snapshot.Name, Confirm: b.Spec.ClusterRef.Name},
	}
}
