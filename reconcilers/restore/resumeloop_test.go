package restore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/store"
)

// creations are how often the operation was to be made.
func (w *world) creations() (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.calls {
		if c == "create *v1alpha1.TalosOperation" {
			n++
		}
	}
	return n
}

// revisions has the API server be at a revision.
func (w *world) revisions(at *int) {
	w.resume.Live = interceptor.NewClient(w.api, interceptor.Funcs{
		List: func(ctx context.Context, api client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := api.List(ctx, list, opts...)
			list.SetResourceVersion(strconv.Itoa(*at))
			return err
		},
	})
}

// The manager starts it with the controllers: after the caches, and where the lease is
// held. The webhook, which admits the operation, may come later: it is tried again after
// 1 s, 2 s and so on up to 30 s, until it is made.
//
// covers: C-28
func TestResumeRepeats(t *testing.T) {
	var one manager.LeaderElectionRunnable = &Resume{}
	if !one.NeedLeaderElection() {
		t.Error("it runs without the lease, before the caches are filled")
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.look()
		w.lost()
		w.restart()
		w.broken["create *v1alpha1.TalosOperation"] = errors.New("connection refused")
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.resume.Start(ctx) }()
		var got []time.Duration
		began := time.Now()
		for n := 0; time.Since(began) < 100*time.Second; <-time.After(500 * time.Millisecond) {
			synctest.Wait()
			for ; n < w.creations(); n++ {
				got = append(got, time.Since(began))
			}
		}
		want := []time.Duration{0, 1, 3, 7, 15, 31, 61, 91}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(got, want) {
			t.Errorf("tried after %v, want %v", got, want)
		}
		w.broken["create *v1alpha1.TalosOperation"] = nil
		<-time.After(30 * time.Second)
		synctest.Wait()
		if w.op(); w.creations() != len(want)+1 {
			t.Errorf("tried %d times, want %d", w.creations(), len(want)+1)
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A rewind that does not end the term, as of a cluster that the controllers do not run in,
// shows in the revision within a minute. Without one nothing is looked for again.
//
// covers: C-16, C-28
func TestResumeAfterARewind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.look()
		revision := 5000
		w.revisions(&revision)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.resume.Start(ctx) }()
		<-time.After(time.Second)
		w.lost()
		for _, later := range []int{6000, 1_000_006_000, 17} {
			before := w.creations()
			for range 10 {
				revision++
				<-time.After(rewindPoll)
			}
			synctest.Wait()
			if n := w.creations() - before; n > 0 {
				t.Errorf("%d looks without a rewind", n)
			}
			revision = later
			<-time.After(rewindPoll)
			synctest.Wait()
			err := w.api.Get(t.Context(), rewind, &v1alpha1.TalosOperation{})
			if rewound := later != 6000; rewound != (err == nil) {
				t.Errorf("at revision %d: the operation is there: %v", later, err)
			}
			if err == nil {
				w.remove(w.op())
			}
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// A backup that the rewind brought back with the settings of then hides the marker. It is
// found within a minute after a person has mended the backup, or its Secret; what has said
// that it has none is not asked again.
//
// covers: C-28
func TestResumeBesideAMendedBackup(t *testing.T) {
	nightlyKey := client.ObjectKeyFromObject(nightly())
	for _, c := range []struct {
		label string
		// before is what the first look finds; mend ends that.
		before, mend func(w *world)
		// looks are how often a store is made in the ten minutes before it is mended.
		looks int
	}{
		{"another bucket", func(*world) {}, func(w *world) {
			change(w, nightlyKey, &v1alpha1.TalosEtcdBackup{}, false, func(b *v1alpha1.TalosEtcdBackup) {
				b.Spec.ObjectStore.Bucket, b.Generation = "backups", 2
			})
		}, 1},
		{"made again", func(w *world) { w.remove(nightly()) }, func(w *world) {
			b := nightly()
			b.UID, b.Spec.ObjectStore.Bucket = "nightly-2", "backups"
			if err := w.api.Create(w.t.Context(), b); err != nil {
				w.t.Error(err)
			}
		}, 0},
		{"its Secret", func(w *world) {
			change(w, nightlyKey, &v1alpha1.TalosEtcdBackup{}, false, func(b *v1alpha1.TalosEtcdBackup) { b.Spec.ObjectStore.Bucket = "backups" })
			w.broken["store"] = store.ErrSettings
		}, func(w *world) { w.broken["store"] = nil }, 11},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.look()
			w.lost()
			elsewhere, err := store.NewFolder(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			made, reach := 0, w.resume.Stores
			w.resume.Stores = func(ctx context.Context, b *v1alpha1.TalosEtcdBackup) (store.Store, error) {
				if made++; b.Spec.ObjectStore.Bucket != "backups" {
					return elsewhere, nil
				}
				return reach(ctx, b)
			}
			c.before(w)
			ctx, end := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- w.resume.Start(ctx) }()
			<-time.After(10*rewindPoll + time.Second)
			synctest.Wait()
			if n := w.creations(); n != 0 || made != c.looks {
				t.Errorf("%s: before it is mended %d operations are made and %d stores, want 0 and %d", c.label, n, made, c.looks)
			}
			c.mend(w)
			<-time.After(rewindPoll)
			synctest.Wait()
			if n := w.creations(); n != 1 || made != c.looks+1 {
				t.Errorf("%s: a minute after it is mended %d operations are made and %d stores, want 1 and %d", c.label, n, made, c.looks+1)
			}
			<-time.After(10 * rewindPoll)
			synctest.Wait()
			if made != c.looks+1 {
				t.Errorf("%s: %d stores are made once the marker is found, want %d", c.label, made, c.looks+1)
			}
			end()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}
