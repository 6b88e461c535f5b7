package restore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/epoch"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// cycle is one reconcile of one operation: what was read, and what is to be said.
type cycle struct {
	*Reconciler
	log   logr.Logger
	op    *v1alpha1.TalosOperation
	read  *v1alpha1.TalosOperation // as it was read or last written
	notes []note
	again time.Duration

	// cluster and backup are nil where there are none.
	cluster *v1alpha1.TalosCluster
	backup  *v1alpha1.TalosEtcdBackup
	// store is nil where it cannot be reached at all; storeErr says why, or why it did
	// not answer.
	store    store.Store
	storeErr error
	// marker is what the store has, ours or not; version is its.
	marker    *restore.Marker
	version   store.Version
	markerErr error // restore.ErrNewerMarker or ErrMarker
}

func (c *cycle) clusterKey() types.NamespacedName {
	return types.NamespacedName{Namespace: c.op.Namespace, Name: c.op.Spec.ClusterRef.Name}
}

// find reads what the operation is about: cluster, backup, and the marker.
func (c *cycle) find(ctx context.Context) error {
	cluster, err := get(ctx, c.Live, c.clusterKey(), &v1alpha1.TalosCluster{})
	if err != nil {
		return fmt.Errorf("get TalosCluster %s: %w", c.clusterKey(), err)
	}
	key := types.NamespacedName{Namespace: c.op.Namespace, Name: c.op.Spec.EtcdRestore.BackupRef.Name}
	backup, err := get(ctx, c.Live, key, &v1alpha1.TalosEtcdBackup{})
	if err != nil {
		return fmt.Errorf("get TalosEtcdBackup %s: %w", key, err)
	}
	c.cluster, c.backup = cluster, backup
	if backup == nil {
		c.storeErr = fmt.Errorf("there is no TalosEtcdBackup %s", key)
		return nil
	}
	c.findMarker(ctx)
	if c.marker == nil && c.markerErr == nil && c.storeErr == nil {
		return c.findOthers(ctx)
	}
	return nil
}

// findOthers looks for a restore of the cluster that goes by another of its backups.
func (c *cycle) findOthers(ctx context.Context) error {
	var list v1alpha1.TalosEtcdBackupList
	if err := c.Live.List(ctx, &list, client.InNamespace(c.op.Namespace)); err != nil {
		return fmt.Errorf("list the backups: %w", err)
	}
	for i := range list.Items {
		b := &list.Items[i]
		if b.Name == c.backup.Name || b.Spec.ClusterRef.Name != c.op.Spec.ClusterRef.Name || c.marker != nil || c.storeErr != nil {
			continue
		}
		other := &cycle{Reconciler: c.Reconciler, op: c.op, backup: b}
		other.findMarker(ctx)
		c.marker, c.markerErr = other.marker, other.markerErr
		if !errors.Is(other.storeErr, store.ErrSettings) { // such a backup has none
			c.storeErr = other.storeErr
		}
	}
	return nil
}

// get reads an object; nil if there is none.
func get[T client.Object](ctx context.Context, live client.Reader, key types.NamespacedName, o T) (found T, err error) {
	if err = live.Get(ctx, key, o); apierrors.IsNotFound(err) {
		return found, nil
	} else if err != nil {
		return found, err
	}
	return o, nil
}

// storeTimeout bounds a look for the marker.
const storeTimeout = 20 * time.Second

func (c *cycle) findMarker(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if c.store, c.storeErr = c.Stores(ctx, c.backup); c.storeErr != nil {
		return
	}
	m, version, err := (restore.Markers{Store: c.store}).Load(ctx)
	switch {
	case err == nil:
		c.marker, c.version = m, version
	case errors.Is(err, restore.ErrNoMarker):
	case errors.Is(err, restore.ErrNewerMarker), errors.Is(err, restore.ErrMarker):
		c.markerErr = err
	default:
		c.storeErr = err
	}
}

func (c *cycle) facts() facts {
	f := facts{phase: c.op.Status.Phase, deleted: !c.op.DeletionTimestamp.IsZero(), released: c.released(), marker: c.markerState()}
	if c.op.Status.EtcdRestore != nil {
		f.step = c.op.Status.EtcdRestore.Step
	}
	if c.ours() {
		f.failed, f.done, f.at = c.marker.Failure != "", c.marker.JobDone, c.marker.Step
	}
	if f.marker == markerOther && c.marker != nil {
		f.older = c.op.CreationTimestamp.Time.Before(c.marker.StartedAt)
	}
	f.unreachable = c.backup == nil || errors.Is(c.storeErr, store.ErrSettings)
	return f
}

func (c *cycle) markerState() markerState {
	switch {
	case c.storeErr != nil:
		return markerUnknown
	case c.ours():
		return markerOurs
	case c.marker != nil, c.markerErr != nil:
		return markerOther
	}
	return markerNone
}

// ours tells whether the marker is this operation's: after a rewind it is another object
// of the same name.
func (c *cycle) ours() bool { return c.marker != nil && OperationName(c.marker) == c.op.Name }

// OperationName is the name of the operation of a marker: the one that ordered it, or
// one made up for a restore that was ordered by command line.
func OperationName(m *restore.Marker) string {
	if m.Operation.Name != "" {
		return m.Operation.Name
	}
	return restore.CommandName(m.Epoch)
}

// released tells whether a person lets the operation go on: after a hold, for the epoch
// that holds it; after a pause, at all.
func (c *cycle) released() bool {
	if c.op.Status.Phase == v1alpha1.PhaseHeld {
		return epoch.Released(c.op)
	}
	return c.op.Annotations[v1alpha1.AnnotationRelease] != ""
}
