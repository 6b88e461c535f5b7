package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/restoreplan"
	"github.com/quorate/quorate/internal/snapshot/stored"
	"github.com/quorate/quorate/internal/store"
)

// leap is how far beyond all revisions that etcd has reached the recovered one begins:
// so far that no watcher has seen what comes.
const leap = 1_000_000_000

// try tells whether the store keeps two writers apart.
func (w *preparation) try(ctx context.Context) error {
	err := w.Store.Probe(ctx)
	if !errors.Is(err, store.ErrUnconditional) {
		return err
	}
	p := w.prospect()
	p.Unconditional = true
	return blockedBy(restoring.Blocked(p))
}

// taken is where the snapshot in plain is, as it was taken.
func (w *preparation) taken() string {
	return filepath.Join(filepath.Dir(w.folder.SnapshotPath()), "taken.db")
}

// fetch reads the snapshot into the folder; nothing opens it before its sum is right.
func (w *preparation) fetch(ctx context.Context) (err error) {
	w.staging = true
	f, err := os.OpenFile(w.taken(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the snapshot into the folder of the restore: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = w.copyPlain(ctx, w.Operation.Spec.EtcdRestore.Snapshot, f)
	return err
}

func (w *preparation) inspect(ctx context.Context) (err error) {
	if w.inspection, err = w.Worker.Inspect(ctx, w.taken()); err != nil {
		return err
	}
	if w.inspection.Sum != w.meta.PlainSum {
		return fmt.Errorf("%s is another snapshot than the one that is described beside it: its sum is %s, and %s is written there", w.meta.Name, w.inspection.Sum, w.meta.PlainSum)
	}
	p := w.prospect()
	p.MissingCRDs, p.Returned = restoreplan.MissingCRDs(w.inspection), restoreplan.ReturnedOf(w.Backup, w.inspection)
	w.warn(restoring.Doubts(p))
	return blockedBy(restoring.Blocked(p))
}

// warn tells of what stops nothing.
func (w *preparation) warn(doubts []string) {
	for _, d := range doubts {
		w.Log.Info(d, "operation", w.Operation.Namespace+"/"+w.Operation.Name)
		w.Events.Eventf(w.Operation, nil, corev1.EventTypeWarning, v1alpha1.ReasonRestoreDoubtful, "Restore", "%s", conditions.Cut(d, conditions.MaxNote))
	}
}

// undo takes a snapshot that leads back.
func (w *preparation) undo(ctx context.Context) (err error) {
	if w.Operation.Spec.EtcdRestore.WithoutUndo {
		return nil
	}
	if w.undoName, err = w.Undo(ctx, w.Order); err != nil {
		return fmt.Errorf("take a snapshot that leads back (set withoutUndo to do without): %w", err)
	}
	return nil
}

func (w *preparation) reseal(ctx context.Context) (err error) {
	bump := max(w.live, w.inspection.Revision) + leap - w.inspection.Revision
	w.resealed, err = w.Worker.Reseal(ctx, w.taken(), w.folder.SnapshotPath(), bump)
	if err != nil {
		return err
	}
	if err := os.Remove(w.taken()); err != nil {
		return fmt.Errorf("remove the snapshot as it was taken: %w", err)
	}
	return nil
}

// pin stores what is going to be uploaded, encrypted.
func (w *preparation) pin(ctx context.Context) error {
	f, err := os.Open(w.folder.SnapshotPath())
	if err != nil {
		return fmt.Errorf("read the snapshot in the folder of the restore: %w", err)
	}
	defer func() { _ = f.Close() }() // nothing was written to it
	if err := w.alone(ctx); err != nil {
		return err
	}
	w.pinning = restore.NewPinnedName()
	sealed, _, err := stored.Put(ctx, w.Store, w.pinning, f, w.secrets.Key)
	if err != nil {
		return fmt.Errorf("store a copy of the snapshot: %w", err)
	}
	w.pinned = restore.PinnedOf(w.pinning, sealed)
	w.pinned.Floor, w.pinned.Undo = w.resealed.Revision, w.undoName
	return nil
}

// alone looks once more for another restore's marker, before much is written.
func (w *preparation) alone(ctx context.Context) error {
	is, _, err := (restore.Markers{Store: w.Store}).Load(ctx)
	switch {
	case errors.Is(err, restore.ErrNoMarker):
		return nil
	case err != nil:
		return err
	}
	w.Marker = is
	return blockedBy(restoring.Blocked(w.prospect()))
}

// mark writes the marker: from here on the restore is on its way.
func (w *preparation) mark(ctx context.Context) error {
	m, err := w.newMarker()
	if err != nil {
		return err
	}
	if err := w.folder.SaveMarker(m); err != nil {
		return err
	}
	w.marking = true
	is, err := (restore.Markers{Store: w.Store}).Begin(ctx, m)
	switch {
	case err == nil:
		w.marker = is
		return nil
	case errors.Is(err, restore.ErrUnsure):
		return err
	}
	w.marking = false
	if errors.Is(err, restore.ErrOther) {
		w.Marker = is
		return blockedBy(restoring.Blocked(w.prospect()))
	}
	return err
}

func (w *preparation) newMarker() (*restore.Marker, error) {
	identity, err := w.folder.Identity()
	if err != nil {
		return nil, err
	}
	now, o := w.Clock.Now(), w.Operation
	target := restoring.Target(w.seen.nodes, w.seen.own)
	return &restore.Marker{
		Schema: restore.Schema, Quorate: w.Version, Fence: 1, Owner: restore.Owner{Identity: identity, Expires: now.Add(cmp.Or(w.Hold, restore.DefaultHold))},
		Operation: restore.Operation{
			Namespace: o.Namespace, Name: o.Name, UID: string(o.UID), Requester: o.Annotations[v1alpha1.AnnotationRequestedBy], Spec: o.Spec,
		},
		Cluster: w.Cluster.Name, Namespace: w.Cluster.Namespace, Backup: w.Backup.Name,
		Snapshot: restore.Snapshot{Name: w.meta.Name, Time: w.meta.Time, Revision: w.inspection.Revision},
		Pinned:   w.pinned, Step: v1alpha1.StepWiping, RequestedAt: o.CreationTimestamp.Time, StartedAt: now, LimitsFrom: now,
		Epoch: now.UnixMilli(), Nodes: w.seen.nodes, Target: target, Own: w.seen.own, Etcds: w.etcds,
	}, nil
}

func inNamespaceOf(o client.Object) client.ListOption { return client.InNamespace(o.GetNamespace()) }
