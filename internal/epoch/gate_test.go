package epoch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/api/v1alpha1"
)

const (
	rewind     = "TalosOperation plant/rewind restores TalosCluster factory from etcd-20300102T150405Z.snapshot.age (Rejoining)"
	restoring1 = "A restore is on its way, and nothing that cannot be undone is done before its end: " + rewind +
		". See quorate operation list; a restore that does not go on is finished by quorate restore --recover-cluster."
	unsure  = "Nothing that cannot be undone is done before it is known that no restore is on its way. "
	nightly = "The store of TalosEtcdBackup plant/nightly (bucket backups at https://s3.example.com, folder nightly)"
	silence = unsure + nightly + " does not tell: ask s3.example.com: connection refused. It is asked again; make it answer, or delete the TalosEtcdBackup if the store is gone for good."
)

var errAway = errors.New("ask s3.example.com: connection refused")

// Where nothing is backed up nothing can be restored.
func TestNoBackups(t *testing.T) {
	w := newWorld(t)
	w.waits("factory", "")
	w.waits("", "")
}

// Each store is asked once in a term, and only those of the cluster for a cluster.
func TestStoresWithoutMarker(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"), backup("other", "mill"))
	w.waits("factory", "")
	w.asks("other", 0)
	w.waits("", "")
	w.after(time.Hour)
	w.waits("factory", "")
	w.asks("nightly", 1)
	w.asks("other", 1)
}

// A marker closes the gate of its cluster and of all Etcds, until it is gone.
func TestMarkerCloses(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"), backup("other", "mill"))
	w.marker["nightly"] = rewind
	w.waits("factory", restoring1)
	w.waits("", restoring1)
	w.waits("mill", "")
	w.asks("nightly", 1)
	w.marker["nightly"] = ""
	w.waits("factory", restoring1)
	w.after(markedPause)
	w.waits("factory", "")
	w.asks("nightly", 2)
}

// A store that does not answer keeps the gate closed, and is asked again after 1 s, 2 s
// and so on up to a minute.
func TestSilentStore(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"))
	w.fault["nightly"] = errAway
	want := 0
	for _, pause := range []time.Duration{0, 1, 2, 4, 8, 16, 32, 60, 60} {
		if pause > 0 {
			w.after(pause*time.Second - time.Millisecond)
			w.waits("factory", silence)
			w.asks("nightly", want)
			w.after(time.Millisecond)
		}
		want++
		w.waits("factory", silence)
		w.asks("nightly", want)
	}
	w.fault["nightly"] = nil
	w.after(lastPause)
	w.waits("factory", "")
}

// A store that falls silent while it has a marker is told with both.
func TestSilentWithMarker(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"))
	w.marker["nightly"] = rewind
	w.waits("factory", restoring1)
	w.fault["nightly"] = errAway
	w.after(markedPause)
	w.waits("factory", silence+" When it last answered it had the marker of a restore: "+rewind+".")
}

// A backup that is made or changed later in the term is asked before the gate opens
// again, and one that is deleted keeps nothing closed.
func TestLaterBackups(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"))
	w.waits("factory", "")
	late := backup("late", "factory")
	w.marker["late"] = rewind
	w.create(late)
	w.waits("factory", restoring1)
	if err := w.api.Delete(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	w.waits("factory", "")
	moved := &v1alpha1.TalosEtcdBackup{}
	if err := w.api.Get(t.Context(), client.ObjectKey{Namespace: "plant", Name: "nightly"}, moved); err != nil {
		t.Fatal(err)
	}
	moved.Generation, w.marker["nightly"] = 2, rewind
	if err := w.api.Update(t.Context(), moved); err != nil {
		t.Fatal(err)
	}
	w.waits("factory", restoring1)
}

// A restore that this process runs closes the gate at once; after it the stores are
// asked once more.
func TestRunningRestoreCloses(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"))
	w.waits("factory", "")
	w.gate.Close("plant", "factory", rewind)
	w.waits("factory", restoring1)
	w.waits("", restoring1)
	w.waits("mill", "")
	w.asks("nightly", 1)
	w.marker["nightly"] = rewind
	w.gate.Open("plant", "factory")
	w.waits("factory", restoring1)
	w.asks("nightly", 2)
}

// One question at a time is put to a store, and whoever comes meanwhile is not held up;
// a restore that begins meanwhile is heard.
func TestOneQuestionAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, backup("nightly", "factory"))
		w.hang = make(chan struct{})
		first := make(chan string)
		go func() {
			why, err := w.gate.Wait(t.Context(), "plant", "factory")
			if err != nil {
				t.Error(err)
			}
			first <- why
		}()
		synctest.Wait()
		w.waits("factory", unsure+nightly+" is being asked just now.")
		w.gate.Close("plant", "factory", rewind)
		close(w.hang)
		if why := <-first; why != restoring1 {
			t.Errorf("the first hears %q", why)
		}
		w.asks("nightly", 1)
	})
}

// A store that hangs is given up after ten seconds.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, backup("nightly", "factory"))
		w.hang = make(chan struct{})
		began := time.Now()
		w.waits("factory", unsure+nightly+" does not tell: context deadline exceeded. It is asked again; make it answer, or delete the TalosEtcdBackup if the store is gone for good.")
		if took := time.Since(began); took != askTimeout {
			t.Errorf("it took %s", took)
		}
	})
}

// Who gives up says nothing of the store: the next one asks at once.
func TestCallerGivesUp(t *testing.T) {
	w := newWorld(t, backup("nightly", "factory"))
	w.hang = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if why, err := w.gate.Wait(ctx, "plant", "factory"); !errors.Is(err, context.Canceled) || why != "" {
		t.Errorf("got %q, %v", why, err)
	}
	close(w.hang)
	w.waits("factory", "")
}

// An API server that does not answer leaves the gate closed.
func TestNoListOfBackups(t *testing.T) {
	w := newWorld(t)
	w.gate.live = interceptor.NewClient(w.api, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return errAway },
	})
	if _, err := w.gate.Wait(t.Context(), "plant", ""); !errors.Is(err, errAway) {
		t.Errorf("error %v", err)
	}
}
