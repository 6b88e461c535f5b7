package manager

import (
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/reconcilers/backup"
)

// talosEtcdBackups sets up what follows TalosEtcdBackups. What it reads back of a snapshot
// lies in the system's folder for temporary files, and is opened by this program in
// another role.
func (c *controllers) talosEtcdBackups(m term) error {
	c.backups = &backup.Reconciler{
		Client: m.GetClient(), Live: m.GetAPIReader(), Events: m.GetEventRecorder("quorate"), Clock: clock.RealClock{},
		Log: c.options.Log.WithName("talosetcdbackup"), Plane: m.plane, Source: backup.SourceBy(m.plane), Stores: backup.StoresBy(m.GetAPIReader()),
		Inspector: &snapshot.Worker{}, Version: c.options.Version, Metrics: c.backupMetrics,
	}
	return c.backups.Setup(m.Manager)
}
