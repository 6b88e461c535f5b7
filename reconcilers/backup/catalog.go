package backup

import (
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

const (
	// maxListed is what the API allows.
	maxListed = 500
	// leftoverAge is after how long what is not whole is removed: nobody writes one for
	// so long.
	leftoverAge = 24 * time.Hour
	// undoAge is how long the way back from a restore is kept, whatever the retention.
	undoAge = 7 * 24 * time.Hour
	// maxAhead is how far the clock of an earlier process may have been ahead.
	maxAhead = 10 * time.Minute
)

// Catalog is what is in a store. Objects that are not of a snapshot are not in it, such as
// a restore's marker, but for the copies that restores left which died.
type Catalog struct {
	// Whole are the cluster's snapshots, newest first.
	Whole []Entry
	// Partial are objects of snapshots that are not whole, or not any more.
	Partial []store.Info
	// Foreign are the names of snapshots of other clusters, also of one of the same name
	// with another bundle, and of those that a newer Quorate wrote; they are left alone.
	Foreign []string
	// Copies are those of restores. The one of a restore that is on its way is there
	// together with its marker, while which nothing is removed.
	Copies []store.Info
}

// Entry is one whole snapshot.
type Entry struct {
	snapshot.Meta
	// MetaObject is the object beside it.
	MetaObject store.Info
}

// beside is what was read of the object beside a snapshot.
type beside struct {
	object store.Info
	meta   snapshot.Meta
	err    error // snapshot.ErrMeta or snapshot.ErrNewerMeta
}

// owner is the cluster whose snapshots are looked for. Two of one name are told apart by
// the ID in their bundles: one that was rebuilt leaves alone what is left of the lost one.
type owner struct {
	namespace, cluster string
	id                 string // of the secrets bundle; empty for whichever
}

// arrange sorts objects by what they are: pure. metas are by the snapshot's name.
func arrange(of owner, objects []store.Info, metas map[string]beside) (c Catalog) {
	for _, o := range objects {
		if _, ok := snapshot.ParseName(o.Name); !ok {
			continue
		}
		b, ok := metas[o.Name]
		switch {
		case ok && of.foreign(b):
			c.Foreign = append(c.Foreign, o.Name)
		case ok && b.err == nil && b.meta.Name == o.Name && b.meta.Size == o.Size:
			c.Whole = append(c.Whole, Entry{b.meta, b.object})
		case ok:
			c.Partial = append(c.Partial, o, b.object)
		default:
			c.Partial = append(c.Partial, o)
		}
		delete(metas, o.Name)
	}
	for _, b := range metas { // their snapshots are gone
		if !of.foreign(b) {
			c.Partial = append(c.Partial, b.object)
		}
	}
	slices.SortFunc(c.Whole, newestFirst)
	slices.SortFunc(c.Partial, func(a, b store.Info) int { return strings.Compare(a.Name, b.Name) })
	return c
}

func newestFirst(a, b Entry) int { return strings.Compare(b.Name, a.Name) }

// add takes in one that was just taken.
func (c *Catalog) add(e Entry) {
	c.Whole = append(c.Whole, e)
	slices.SortFunc(c.Whole, newestFirst)
}

func (o owner) foreign(b beside) bool {
	if b.err != nil {
		return isNewer(b.err)
	}
	id := b.meta.TalosClusterID
	return b.meta.Namespace != o.namespace || b.meta.Cluster != o.cluster || id != "" && o.id != "" && id != o.id
}

// snapshots is status.snapshots.
func (c Catalog) snapshots() (out []v1alpha1.Snapshot) {
	for _, e := range c.Whole[:min(len(c.Whole), maxListed)] {
		s := v1alpha1.Snapshot{Name: e.Name, Time: metav1.NewTime(e.Time), Size: e.Size, Revision: e.Revision, UndoOf: e.UndoOf}
		if e.Verified != nil {
			at := metav1.NewTime(e.Verified.At)
			s.Verified = &at
		}
		out = append(out, s)
	}
	return out
}

// surplus are the whole snapshots beyond so many: the oldest, but never the newest that
// is proved, nor the way back from a restore within a week of it, nor one of a clock that
// was ahead, which counts for nothing until its time has come.
func (c Catalog) surplus(retention int, now time.Time) (out []Entry) {
	proved := slices.IndexFunc(c.Whole, func(e Entry) bool { return e.Verified != nil && !e.ahead(now) })
	kept := 0
	for i, e := range c.Whole {
		switch {
		case e.UndoOf != "" && now.Sub(e.Time) < undoAge, e.ahead(now):
		case kept < retention || i == proved:
			kept++
		default:
			out = append(out, e)
		}
	}
	return out
}

// leftovers are what is not whole and has been so for a day, and copies of restores that
// never began or did not end.
func (c Catalog) leftovers(now time.Time) (out []store.Info) {
	for _, o := range slices.Concat(c.Partial, c.Copies) {
		if now.Sub(o.Modified) >= leftoverAge {
			out = append(out, o)
		}
	}
	return out
}

// ahead tells whether an entry is of a clock that was so far ahead that its time says
// nothing.
func (e Entry) ahead(now time.Time) bool { return e.Time.After(now.Add(maxAhead)) }

// newest is the newest of a clock that was right; nil if there is none.
func (c Catalog) newest(now time.Time) *Entry {
	if i := slices.IndexFunc(c.Whole, func(e Entry) bool { return !e.ahead(now) }); i >= 0 {
		return &c.Whole[i]
	}
	return nil
}

// latest is when the newest was taken that is no way back from a restore; zero if none.
// One of a clock that was a little ahead counts as of now.
func (c Catalog) latest(now time.Time) time.Time {
	for _, e := range c.Whole {
		switch {
		case e.UndoOf != "" || e.ahead(now):
		case e.Time.After(now):
			return now
		default:
			return e.Time
		}
	}
	return time.Time{}
}

// has tells whether anything is in the store by a snapshot's name.
func (c Catalog) has(name string) bool {
	return slices.Contains(c.Foreign, name) ||
		slices.ContainsFunc(c.Whole, func(e Entry) bool { return e.Name == name }) ||
		slices.ContainsFunc(c.Partial, func(o store.Info) bool { return o.Name == name })
}
