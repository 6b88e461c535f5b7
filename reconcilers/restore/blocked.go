package restore

import (
	"errors"
	"strings"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/restoreplan"
	"github.com/quorate/quorate/internal/snapshot"
)

// errBlocked: a person has to see to what stands in the way.
var errBlocked = errors.New("the restore is refused")

// blockedError says all that stands in the way.
type blockedError struct{ blocks []restoring.Block }

func (e blockedError) Error() string {
	var said []string
	for _, b := range e.blocks {
		said = append(said, b.Message)
	}
	return strings.Join(said, " ")
}

func (blockedError) Is(target error) bool { return target == errBlocked }

func blockedBy(blocks []restoring.Block) error {
	if len(blocks) == 0 {
		return nil
	}
	return blockedError{blocks}
}

// prospect is the restore as far as it is known.
func (w *preparation) prospect() restoring.Prospect {
	ask := w.Operation.Spec.EtcdRestore
	p := restoring.Prospect{
		Cluster: w.Cluster.Name, Backup: w.Backup.Name, Snapshot: ask.Snapshot, Confirm: &ask.Confirm, BackupOf: w.Backup.Spec.ClusterRef.Name,
		Listed: w.meta.Name != "", Now: authorities(w.secrets.Authorities), Then: authorities(w.meta.Authorities),
		Namespace: w.Backup.Namespace, Store: restoreplan.SettingsOf(w.Backup), KeyThen: w.meta.KeyFingerprint, Quorate: w.Version, TakenBy: w.meta.Quorate,
		Own: w.seen.own, Silent: w.seen.silent, AllowUnconditional: ask.AllowUnconditionalStore, Recovery: w.recovery(),
	}
	if w.secrets.Key != nil {
		p.KeyNow = w.secrets.Key.Fingerprint()
	}
	for i := range w.machines {
		if m := &w.machines[i]; controlplane.Approved(m) {
			p.ControlPlanes = append(p.ControlPlanes, m.Name)
		}
	}
	if w.Marker != nil {
		p.Marker = &restoring.OtherMarker{Operation: OperationName(w.Marker), Snapshot: w.Marker.Snapshot.Name, Step: w.Marker.Step}
	}
	return p
}

func (w *preparation) recovery() restoring.Recovery {
	return restoreplan.RecoveryOf(w.Backup, w.Operation.Spec.EtcdRestore.Snapshot, w.machines)
}

func authorities(f snapshot.Fingerprints) restoring.Authorities {
	return restoring.Authorities{Etcd: f.Etcd, Kubernetes: f.K8s, OS: f.OS}
}
