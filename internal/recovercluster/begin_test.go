package recovercluster

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// copies are the objects of restores in the store.
func (r *Recovery) copies(t *testing.T) (out []string) {
	t.Helper()
	for info, err := range r.Store.List(t.Context(), "etcd-restore") {
		must(t, err)
		out = append(out, info.Name)
	}
	return out
}

// begins is a store in which another restore begins before a marker is created.
type begins struct {
	store.Store
	other func()
}

func (b *begins) Create(ctx context.Context, name string, data []byte) (store.Version, error) {
	b.other()
	return b.Store.Create(ctx, name, data)
}

// Of two that begin at once one goes on, with a copy of its own; the other one leaves
// nothing behind, whenever it finds out.
//
// covers: C-10
func TestTwoBegin(t *testing.T) {
	for _, late := range []bool{false, true} {
		r, n := world(t)
		plan, err := r.Prepare(t.Context())
		must(t, err)
		first := *r
		begin := func() { must(t, first.begin(t.Context(), plan, "the first")) }
		if late {
			r.Store = &begins{r.Store, begin}
		} else {
			begin()
		}
		err = r.begin(t.Context(), plan, "the second")
		if !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "Leave --snapshot out to go on with that one") || len(n.asked) != 0 {
			t.Errorf("late %t: got %v, asked %v", late, err, n.asked)
		}
		m, _, err := restore.Markers{Store: first.Store}.Load(t.Context())
		if err != nil || m.Owner.Identity != "the first" || m.Pinned.Name == "" || !slices.Equal(r.copies(t), []string{m.Pinned.Name, restore.MarkerName}) {
			t.Errorf("late %t: %v, %+v, the store has %q", late, err, m, r.copies(t))
		}
	}
}

// silent is a store that does what it is asked for, or not, and does not say so; it does
// not answer at all from then on if it is dead.
type silent struct {
	store.Store
	acts, dead, gone bool
}

func (s *silent) Get(ctx context.Context, name string) (io.ReadCloser, store.Info, error) {
	if s.gone {
		return nil, store.Info{}, store.ErrUnreachable
	}
	return s.Store.Get(ctx, name)
}

func (s *silent) Create(ctx context.Context, name string, data []byte) (store.Version, error) {
	if s.acts {
		if _, err := s.Store.Create(ctx, name, data); err != nil {
			return "", err
		}
	}
	s.gone = s.dead
	return "", store.ErrUnreachable
}

// A marker whose write was not answered is one that was written, if the store has it. Where
// it has not, no copy is left; where nobody knows, it is, as it may be needed.
func TestMarkerAnswerIsLost(t *testing.T) {
	for _, tt := range []struct {
		acts, dead bool
		want       error
		left       int
	}{{true, false, nil, 2}, {false, false, store.ErrUnreachable, 0}, {true, true, restore.ErrUnsure, 2}, {false, true, restore.ErrUnsure, 1}} {
		r, _ := world(t)
		plan, err := r.Prepare(t.Context())
		must(t, err)
		r.Store = &silent{Store: r.Store, acts: tt.acts, dead: tt.dead}
		if err := r.begin(t.Context(), plan, "me"); !errors.Is(err, tt.want) || len(r.copies(t)) != tt.left {
			t.Errorf("%+v: got %v, and the store has %q", tt, err, r.copies(t))
		}
	}
}

// A node that does not answer ends it, and no copy stays.
func TestNoCopyStays(t *testing.T) {
	r, n := world(t)
	plan, err := r.Prepare(t.Context())
	must(t, err)
	n.mute["192.0.2.12"] = true
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = r.Run(ctx, plan)
	if want := "ask node 192.0.2.12: it does not answer; nothing was changed on the nodes"; err == nil || err.Error() != want || len(r.copies(t)) != 0 {
		t.Errorf("got %v, and the store has %q; want %s", err, r.copies(t), want)
	}
}

// unlisted is a store whose list breaks off.
type unlisted struct{ store.Store }

func (u unlisted) List(ctx context.Context, prefix string) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) { yield(store.Info{}, store.ErrUnreachable) }
}

// Nothing is begun with another snapshot than the one that is described, or where it cannot
// be said how far etcd has come.
func TestBeginsWithWhatIsDescribed(t *testing.T) {
	r, n := world(t)
	plan, err := r.Prepare(t.Context())
	must(t, err)
	whole := r.Store
	r.Store = unlisted{whole}
	if _, err := r.Run(t.Context(), plan); !errors.Is(err, store.ErrUnreachable) || !strings.Contains(err.Error(), "look how far etcd has come") {
		t.Errorf("without a list: got %v", err)
	}
	r.Store = whole
	plan.meta.PlainSum = "sha256:00"
	if _, err := r.Run(t.Context(), plan); !errors.Is(err, ErrBlocked) || !strings.Contains(err.Error(), "is another snapshot than the one that is described beside it") {
		t.Errorf("another snapshot: got %v", err)
	}
	if left := r.copies(t); len(left) != 0 || len(n.asked) != 0 {
		t.Errorf("left behind %q, asked %q", left, n.asked)
	}
}

// A backup of another namespace leads the controllers nowhere, and of a folder no backup
// speaks.
func TestBackupThatLeadsHere(t *testing.T) {
	meta := snapshot.Meta{Cluster: "prod", Namespace: "default"}
	found := func(namespace string) snapshot.Inspection {
		return snapshot.Inspection{Backups: []snapshot.Backup{{Namespace: namespace, Name: "nightly", Spec: &snapshot.BackupSpec{Cluster: "prod", Bucket: "backups", HasSecret: true}}}}
	}
	r := &Recovery{At: &restoring.StoreSettings{Bucket: "backups"}}
	if here, elsewhere := r.afterwards(meta, found("default")), r.afterwards(meta, found("other")); here != "" || !strings.HasPrefix(elsewhere, "The snapshot has no TalosEtcdBackup") {
		t.Errorf("in its namespace: %q, in another: %q", here, elsewhere)
	}
	r.At = nil
	if got := r.afterwards(meta, snapshot.Inspection{}); got != "" {
		t.Errorf("in a folder: %q", got)
	}
}
