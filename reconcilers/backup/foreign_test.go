package backup

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
)

// A cluster that was rebuilt by the same name, with another bundle, neither lists nor
// removes what is left of the lost one, whatever the retention.
func TestRebuiltClusterLeavesTheLostOnesSnapshots(t *testing.T) {
	w := newWorld(t, func(b *v1alpha1.TalosEtcdBackup) { b.Spec.Retention = 1 })
	w.to(12, 0)
	w.reconcile()
	w.rebuild()
	w.restart()
	w.to(13, 0)
	w.reconcile()
	w.lists(one)
	w.to(14, 0)
	w.reconcile()
	const two = "etcd-20300102T140000Z.snapshot.age"
	w.lists(two)
	w.unstoreSnapshot(noon)
	w.clock.SetTime(w.clock.Now().Add(48 * time.Hour))
	w.aged()
	w.reconcile()
	if !slices.Contains(w.files(), metaOf(noon)) {
		t.Errorf("what is left of the lost cluster was removed: %q", w.files())
	}
}

// unstoreSnapshot checks that a whole snapshot is there, and takes the object alone.
func (w *world) unstoreSnapshot(name string) {
	w.t.Helper()
	if files := w.files(); !slices.Contains(files, name) || !slices.Contains(files, metaOf(name)) {
		w.t.Fatalf("stored are %q, want also %s", files, name)
	}
	w.unstore(name)
}

// rebuild gives the cluster a new secrets bundle.
func (w *world) rebuild() {
	w.t.Helper()
	b, err := secrets.NewBundle(secrets.NewClock(), config.TalosVersion1_6)
	if err != nil {
		w.t.Fatal(err)
	}
	data, err := yaml.Marshal(b)
	secret := &corev1.Secret{}
	err = errors.Join(err, w.api.Get(w.t.Context(), types.NamespacedName{Namespace: "default", Name: "quay-secrets"}, secret))
	secret.Data = map[string][]byte{"bundle": data}
	if err := errors.Join(err, w.api.Update(w.t.Context(), secret)); err != nil {
		w.t.Fatal(err)
	}
}
