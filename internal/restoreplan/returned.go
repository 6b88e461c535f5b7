package restoreplan

import (
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
)

// SettingsOf is where a backup points to.
func SettingsOf(b *v1alpha1.TalosEtcdBackup) restoring.StoreSettings {
	s := b.Spec.ObjectStore
	return restoring.StoreSettings{Endpoint: s.Endpoint, Region: s.Region, Bucket: s.Bucket, Prefix: s.Prefix}
}

// ReturnedOf is a backup as a snapshot has it. One that may be among those that the
// inspection has left out is not absent: it could not be read.
func ReturnedOf(b *v1alpha1.TalosEtcdBackup, found snapshot.Inspection) *restoring.Returned {
	i := slices.IndexFunc(found.Backups, func(o snapshot.Backup) bool { return o.Namespace == b.Namespace && o.Name == b.Name })
	if i < 0 {
		return &restoring.Returned{Absent: found.MoreBackups == 0}
	}
	returned := restore.ReturnedOf(found.Backups[i].Spec, b.Spec.ClusterRef.Name)
	return &returned
}
