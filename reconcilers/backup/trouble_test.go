package backup

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/store"
)

// What a person has to heal stalls the backup, in words with the way out; it goes on by
// itself afterwards.
func TestStalls(t *testing.T) {
	for _, c := range []struct {
		name         string
		edit         func(*world)
		reason, want string
	}{
		{"no cluster", func(w *world) {
			w.remove(&v1alpha1.TalosCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay"}})
		},
			v1alpha1.ReasonClusterNotFound, "There is no TalosCluster quay to back up: create it, or delete this backup."},
		{"no bundle", func(w *world) {
			w.remove(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quay-secrets"}})
		},
			v1alpha1.ReasonBundleUnusable, "No snapshot can be encrypted: Secret default/quay-secrets: the secrets bundle cannot be used: there is no such Secret; create it with the output of talosctl gen secrets under the key bundle."},
		{"no credentials", func(w *world) { w.broken["settings"] = fmt.Errorf("%w: there is no Secret", store.ErrSettings) },
			v1alpha1.ReasonStoreUnusable, "The object store cannot be used: settings of the object store: there is no Secret."},
		{"refused", func(w *world) { w.broken["list"] = fmt.Errorf("list objects: %w: AccessDenied", store.ErrDenied) },
			v1alpha1.ReasonStoreUnusable, "The object store refuses the credentials: list objects: denied: AccessDenied. Correct them in the Secret of spec.objectStore.credentialsRef, or what they are allowed."},
		{"no control plane", func(w *world) {
			for n := range 3 {
				w.remove(&v1alpha1.TalosMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("cp-%d", n+1)}})
			}
		}, v1alpha1.ReasonSnapshotFailed, "No snapshot could be taken: no TalosMachine is an approved control plane that stays: approve one."},
		{"a day that never comes", func(w *world) { w.reschedule("0 0 30 2 *") },
			v1alpha1.ReasonScheduleUnusable, `spec.schedule "0 0 30 2 *" never comes. Correct it: five cron fields in UTC, or @hourly, @daily, @weekly.`},
		{"a schedule that is none", func(w *world) { w.reschedule("0 0 99 2 *") },
			v1alpha1.ReasonScheduleUnusable, `spec.schedule "0 0 99 2 *" is no schedule: end of range (99) above maximum (31): 99. Correct it: five cron fields in UTC, or @hourly, @daily, @weekly.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.edit(w)
			w.to(12, 0)
			w.reconcile()
			w.is("Ready", metav1.ConditionFalse, c.reason, c.want)
			w.is("Stalled", metav1.ConditionTrue, c.reason, c.want)
			w.is("Reconciling", "", "", "")
			w.reconcile()
			if got := w.took(); len(got) != 1 {
				t.Errorf("events: %q", got)
			}
		})
	}
}

func (w *world) remove(o client.Object) {
	w.t.Helper()
	if err := w.api.Delete(w.t.Context(), o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) reschedule(schedule string) {
	w.t.Helper()
	b := w.backup()
	b.Spec.Schedule = schedule
	if err := w.api.Update(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

// While a restore's marker is there nothing is taken and nothing removed, and the list is
// shown as it is.
//
// covers: C-10
func TestRestoreHoldsBackups(t *testing.T) {
	w := newWorld(t, func(b *v1alpha1.TalosEtcdBackup) { b.Spec.Retention = 1 })
	w.to(12, 0)
	w.reconcile()
	w.put("etcd-restore.marker.json", "{}")
	w.put("etcd-restore.snapshot.age", "pinned")
	w.put("etcd-restore-1a2b.snapshot.age", "pinned")
	w.put("etcd-20300101T000000Z.snapshot.age", "half")
	w.clock.SetTime(start.Add(72 * time.Hour))
	w.aged()
	w.touch("etcd-restore-1a2b.snapshot.age", w.clock.Now().Add(-25*time.Hour))
	w.reconcile()
	w.lists(noon)
	w.stores("etcd-20300101T000000Z.snapshot.age", noon, metaOf(noon), "etcd-restore-1a2b.snapshot.age", "etcd-restore.marker.json", "etcd-restore.snapshot.age")
	w.is("Reconciling", metav1.ConditionTrue, v1alpha1.ReasonRestoreInProgress,
		"A restore is on its way, as its marker etcd-restore.marker.json beside the snapshots says: no snapshot is taken and none removed before its end.")
	w.unstore("etcd-restore.marker.json")
	w.reconcile()
	w.lists("etcd-20300105T113000Z.snapshot.age")
	w.stores("etcd-20300105T113000Z.snapshot.age", "etcd-20300105T113000Z.snapshot.json", "etcd-restore.snapshot.age")
	w.is("Reconciling", "", "", "")
}

func (w *world) unstore(name string) {
	w.t.Helper()
	if err := w.disk.Delete(w.t.Context(), name); err != nil {
		w.t.Fatal(err)
	}
}
