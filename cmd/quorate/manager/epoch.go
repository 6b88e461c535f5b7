package manager

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/epoch"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/store"
)

// newEpochGate is the gate of one term: what was known of restores in the term before is
// worth nothing after a rewind.
func (c *controllers) newEpochGate(m ctrl.Manager) *epoch.Gate {
	return epoch.New(m.GetAPIReader(), storeMarks{m.GetAPIReader()}, clock.RealClock{}, c.options.Log.WithName("epoch"))
}

// storeMarks looks for markers in the stores that backups name.
type storeMarks struct{ secrets client.Reader }

// Marked names the restore whose marker is in the backup's store. A backup that cannot be
// used as it is declared has none: a snapshot of it brings back the Secret and the bucket
// that it was stored with.
func (s storeMarks) Marked(ctx context.Context, b *v1alpha1.TalosEtcdBackup) (string, error) {
	at, err := store.FromBackup(ctx, s.secrets, b)
	if errors.Is(err, store.ErrSettings) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	marker, _, err := restore.Markers{Store: at}.Load(ctx)
	return markText(marker, err)
}

// markText names the restore of a marker; nothing if there is none. One of a newer
// version is a restore all the same.
func markText(m *restore.Marker, err error) (string, error) {
	switch {
	case errors.Is(err, restore.ErrNoMarker), errors.Is(err, store.ErrSettings):
		return "", nil
	case errors.Is(err, restore.ErrNewerMarker):
		return conditions.OneLine(err), nil
	case err != nil:
		return "", err
	}
	by := "a restore from the command line"
	if m.Operation.Name != "" {
		by = fmt.Sprintf("TalosOperation %s/%s", m.Operation.Namespace, m.Operation.Name)
	}
	return fmt.Sprintf("%s restores TalosCluster %s from %s (%s)", by, m.Cluster, m.Snapshot.Name, m.Step), nil
}
