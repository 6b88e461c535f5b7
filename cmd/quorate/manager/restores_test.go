package manager

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/epoch"
	marker "github.com/quorate/quorate/internal/restore"
)

// A folder with the marker of a restore that did not end here keeps the gate of each term
// closed, whatever the rewound TalosEtcdBackups name: here there is none at all. Its end
// opens the gate.
func TestFolderWithAMarkerClosesTheGate(t *testing.T) {
	o := Defaults()
	o.RestoreDir, o.RestoreKeysDir, o.Log = t.TempDir(), t.TempDir(), logr.Discard()
	r, err := newRestores(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.jobs.Stop)
	quay := types.NamespacedName{Namespace: "factory", Name: "quay"}
	folder, err := r.jobs.Folder(quay)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	m := &marker.Marker{
		Schema: marker.Schema, Cluster: "quay", Snapshot: marker.Snapshot{Name: "etcd-20300102T140405Z.snapshot.age"}, Step: v1alpha1.StepRejoining, StartedAt: now, LimitsFrom: now,
		Pinned: marker.Pinned{Floor: 7}, Nodes: []restoring.Node{{Machine: "cp-1", Address: "192.0.2.1", Role: v1alpha1.MachineControlPlane}}, Target: "cp-1",
	}
	if err := folder.SaveMarker(m); err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	const closed = "A restore is on its way, and nothing that cannot be undone is done before its end: the folder of this controller has the marker of a restore of TalosCluster quay from etcd-20300102T140405Z.snapshot.age (Rejoining) that did not end here; if it is over, delete the controller's pod, which takes the folder with it. See quorate operation list; a restore that does not go on is finished by quorate restore --recover-cluster."
	var gate *epoch.Gate
	waits := func(cluster, want string) {
		t.Helper()
		if got, err := gate.Wait(t.Context(), "factory", cluster); err != nil || got != want {
			t.Errorf("cluster %q\ngot  %q, %v\nwant %q", cluster, got, err, want)
		}
	}
	for range 2 { // terms
		gate = epoch.New(fake.NewClientBuilder().WithScheme(scheme).Build(), storeMarks{}, clock.RealClock{}, logr.Discard())
		r.term(gate)
		waits("quay", closed)
		waits("", closed)
		waits("mill", "")
	}
	if err := (access{r, nil}).End(t.Context(), quay); err != nil {
		t.Fatal(err)
	}
	waits("quay", "")
	waits("", "")
}
