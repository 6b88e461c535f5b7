package backup

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

const noon, one = "etcd-20300102T120000Z.snapshot.age", "etcd-20300102T130000Z.snapshot.age"

func (w *world) is(kind string, status metav1.ConditionStatus, reason, message string) {
	w.t.Helper()
	c := meta.FindStatusCondition(w.backup().Status.Conditions, kind)
	if c == nil && status == "" {
		return
	}
	if c == nil || c.Status != status || c.Reason != reason || c.Message != message {
		w.t.Errorf("%s is %+v\nwant %s %s %q", kind, c, status, reason, message)
	}
}

func (w *world) lists(names ...string) {
	w.t.Helper()
	if got := w.listed(); !slices.Equal(got, names) {
		w.t.Errorf("listed are %q, want %q", got, names)
	}
}

func (w *world) stores(names ...string) {
	w.t.Helper()
	if got := w.files(); !slices.Equal(got, names) {
		w.t.Errorf("stored are %q, want %q", got, names)
	}
}

func metaOf(name string) string { return snapshot.MetaName(name) }

const waiting = "No snapshot is in the store yet. The next is due at 2030-01-02T12:00:00Z."

// A snapshot is taken when it is due and not before, proved, and listed with all that is
// known of it.
//
// covers: C-4
func TestScheduled(t *testing.T) {
	w := newWorld(t)
	if again := w.reconcile().RequeueAfter; again != usual {
		t.Errorf("again after %v", again)
	}
	w.is("Ready", metav1.ConditionFalse, v1alpha1.ReasonNoSnapshot, waiting)
	w.stores()
	w.to(12, 0)
	w.reconcile()
	w.stores(noon, metaOf(noon))
	got := w.backup().Status.Snapshots
	if len(got) != 1 {
		t.Fatalf("listed: %+v", got)
	}
	size, at := got[0].Size, metav1.NewTime(w.clock.Now())
	if got[0].Name != noon || !got[0].Time.Equal(&at) || got[0].Revision != 100 || size < int64(len(w.plain())) || !got[0].Verified.Equal(&at) {
		t.Errorf("listed: %+v", got)
	}
	w.is("Ready", metav1.ConditionTrue, v1alpha1.ReasonSnapshotProved,
		"Snapshots: 1. The newest, "+noon+", has 12 keys at revision 100 and members cp-1, cp-2; it was read back and opened. The next is due at 2030-01-02T12:00:00Z.")
	w.is("Reconciling", "", "", "")
	w.is("Stalled", "", "", "")
	if got := w.took(); len(got) != 1 || !strings.HasPrefix(got[0], "Normal BackupProved: Snapshots: 1. The newest, "+noon) {
		t.Errorf("events: %q", got)
	}
	w.to(12, 59)
	if again := w.reconcile().RequeueAfter; again != time.Minute {
		t.Errorf("again after %v", again)
	}
	w.lists(noon)
	w.revision, w.content = 200, "second"
	w.to(13, 0)
	w.reconcile()
	w.lists(one, noon)
	if got := w.took(); len(got) != 0 {
		t.Errorf("events without a transition: %q", got)
	}
}

// What lies in the store is what was sent, encrypted, and tells where it comes from.
func TestWhatIsStored(t *testing.T) {
	w := newWorld(t)
	w.to(12, 0)
	w.reconcile()
	data, _, err := store.ReadSmall(t.Context(), w.disk, metaOf(noon))
	if err != nil {
		t.Fatal(err)
	}
	m, err := snapshot.DecodeMeta(data)
	if err != nil {
		t.Fatal(err)
	}
	bundle, _ := bundleYAML()
	key, err := snapshot.DeriveKey(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if m.Namespace != "default" || m.Cluster != "quay" || m.Quorate != "v1.2.3" || m.KeyFingerprint != key.Fingerprint() || m.Authorities.Etcd == "" || m.TalosClusterID == "" || m.Verified.Members != 2 {
		t.Errorf("beside it: %+v", m)
	}
	r, _, err := w.disk.Get(t.Context(), noon)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	sealed, err := snapshot.Verify(r, key)
	if err != nil || sealed != (snapshot.Sealed{PlainSize: m.PlainSize, Size: m.Size, PlainSum: m.PlainSum, Sum: m.Sum}) {
		t.Errorf("sealed: %+v, %v", sealed, err)
	}
}

// A request is answered once, whatever the schedule says, and one of a second does not
// overwrite the other.
func TestOnDemand(t *testing.T) {
	w := newWorld(t)
	ask := func(value string) {
		b := w.backup()
		b.Annotations = map[string]string{v1alpha1.AnnotationBackupRequested: value}
		if err := w.api.Update(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	ask(strings.Repeat("a", 300))
	w.reconcile()
	w.lists("etcd-20300102T113000Z.snapshot.age")
	if got := w.backup().Status.ObservedBackupRequest; got != strings.Repeat("a", 253) {
		t.Errorf("echoed is %q", got)
	}
	w.clock.SetTime(w.clock.Now().Add(time.Second / 2))
	ask("b")
	if again := w.reconcile().RequeueAfter; again != soonest {
		t.Errorf("again after %v", again)
	}
	w.lists("etcd-20300102T113000Z.snapshot.age")
	w.clock.SetTime(w.clock.Now().Add(time.Second))
	w.reconcile()
	w.reconcile()
	w.lists("etcd-20300102T113001Z.snapshot.age", "etcd-20300102T113000Z.snapshot.age")
}

// After a day without a manager one snapshot is taken, not twenty-four.
func TestCatchUp(t *testing.T) {
	w := newWorld(t)
	w.clock.SetTime(start.Add(24 * time.Hour))
	w.reconcile()
	w.reconcile()
	w.lists("etcd-20300103T113000Z.snapshot.age")
}

// The next control plane is asked if one gives nothing, or breaks off, or sends what is
// cut; what stands in the way is told, and tried again with growing pauses.
func TestControlPlanesThatFail(t *testing.T) {
	refused := errors.New("connection refused")
	for _, c := range []struct {
		name   string
		fault  func(*world)
		asked  []string
		reason string
		want   string
	}{
		{"the first refuses", func(w *world) { w.broken["stream cp-1"] = refused }, []string{"cp-2"}, v1alpha1.ReasonSnapshotProved, ""},
		{"the first breaks off", func(w *world) {
			w.stream = func(m string, r io.Reader) io.Reader {
				if m == "cp-1" {
					return io.MultiReader(io.LimitReader(r, 1000), brokenReader{refused})
				}
				return r
			}
		}, []string{"cp-1", "cp-2"}, v1alpha1.ReasonSnapshotProved, ""},
		{"the first is cut", func(w *world) {
			w.stream = func(m string, r io.Reader) io.Reader {
				if m == "cp-1" {
					return io.LimitReader(r, 1000)
				}
				return r
			}
		}, []string{"cp-1", "cp-2"}, v1alpha1.ReasonSnapshotProved, ""},
		{"all refuse", func(w *world) {
			for n := range 3 {
				w.broken[fmt.Sprintf("stream cp-%d", n+1)] = refused
			}
		}, nil, v1alpha1.ReasonSnapshotFailed, "No snapshot could be taken: TalosMachine cp-1: connection refused TalosMachine cp-2: connection refused TalosMachine cp-3: connection refused."},
		{"it cannot be opened", func(w *world) { w.broken["inspect"] = fmt.Errorf("%w: bolt panicked", snapshot.ErrDamaged) }, []string{"cp-1"}, v1alpha1.ReasonSnapshotDamaged,
			"A snapshot is no good and is not listed: read " + noon + " back: the snapshot is damaged: bolt panicked. Another one is taken."},
		{"it could not be looked at", func(w *world) { w.broken["inspect"] = fmt.Errorf("%w: no room", snapshot.ErrWorker) }, []string{"cp-1"}, v1alpha1.ReasonSnapshotFailed,
			"No snapshot could be taken: read " + noon + " back: the snapshot could not be looked at: no room."},
		{"the store is away", func(w *world) { w.broken["put"] = fmt.Errorf("%w: timeout", store.ErrUnreachable) }, []string{"cp-1"}, v1alpha1.ReasonStoreUnreachable,
			"The object store does not answer: TalosMachine cp-1: unreachable: timeout. It is asked again."},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.fault(w)
			w.to(12, 0)
			w.reconcile()
			if !slices.Equal(w.asked, c.asked) {
				t.Errorf("asked %q, want %q", w.asked, c.asked)
			}
			if c.want == "" {
				w.lists(noon)
				return
			}
			w.lists()
			w.is("Ready", metav1.ConditionFalse, c.reason, c.want)
			if got := w.took(); !slices.Equal(got, []string{"Warning BackupFailed: " + c.want}) {
				t.Errorf("events: %q", got)
			}
			w.reconcile()
			w.is("Reconciling", metav1.ConditionTrue, v1alpha1.ReasonInProgress, "The next attempt is at 2030-01-02T12:01:00Z.")
			w.is("Ready", metav1.ConditionFalse, c.reason, c.want)
			clear(w.broken)
			w.to(12, 1)
			w.reconcile()
			w.lists("etcd-20300102T120100Z.snapshot.age")
			w.is("Reconciling", "", "", "")
		})
	}
}

type brokenReader struct{ err error }

func (b brokenReader) Read([]byte) (int, error) { return 0, b.err }
