package worker

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/quorate/quorate/internal/snapshot"
)

const pageSize = 4096

// wounds make something else of a database; its sum is made anew, so that a child opens it.
var wounds = []func(r *rand.Rand, db []byte) []byte{
	func(r *rand.Rand, db []byte) []byte { return db[:pageSize*(1+r.IntN(len(db)/pageSize))] },      // cut
	func(r *rand.Rand, db []byte) []byte { db[r.IntN(2*pageSize)] ^= 1 << r.IntN(8); return db },    // its head
	func(r *rand.Rand, db []byte) []byte { db[r.IntN(len(db))] ^= 1 << r.IntN(8); return db },       // anywhere
	func(r *rand.Rand, db []byte) []byte { clear(pageOf(r, db)); return db },                        // a page of zeros
	func(r *rand.Rand, db []byte) []byte { copy(pageOf(r, db), pageOf(r, db)); return db },          // a page twice
	func(r *rand.Rand, db []byte) []byte { pageOf(r, db)[r.IntN(48)] ^= 1 << r.IntN(8); return db }, // a page's head
	func(r *rand.Rand, db []byte) []byte { pageOf(r, db)[r.IntN(16)] = byte(r.Uint32()); return db },
}

func pageOf(r *rand.Rand, db []byte) []byte {
	at := pageSize * r.IntN(len(db)/pageSize)
	return db[at : at+pageSize]
}

// A database that is damaged within, though its sum is right, is damaged or it is not: it
// crashes no caller, and a child that it crashes says so.
//
// covers: C-9
func TestDamagedDatabases(t *testing.T) {
	const variants, seed = 105, 6
	db := contentOf(t, snapshotOf(t, many(1500)))
	r, dir := rand.New(rand.NewPCG(seed, seed)), t.TempDir()
	w := &snapshot.Worker{Limits: snapshot.Limits{Time: time.Minute}}
	var group errgroup.Group
	group.SetLimit(2)
	var mu sync.Mutex
	verdicts := map[string]int{}
	for i := range variants {
		path := filepath.Join(dir, fmt.Sprint(i))
		must(t, os.WriteFile(path, wounds[i%len(wounds)](r, bytes.Clone(db)), 0o600))
		resum(t, path)
		group.Go(func() error {
			_, err := w.Inspect(t.Context(), path)
			if i%4 == 0 && !errors.Is(err, snapshot.ErrWorker) {
				_, err = w.Reseal(t.Context(), path, path+".out", 1e9)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				verdicts["not seen"]++
			case errors.Is(err, snapshot.ErrDamaged):
				verdicts["damaged"]++
			default:
				t.Errorf("variant %d of seed %d: %v", i, seed, err)
			}
			return nil
		})
	}
	must(t, group.Wait())
	if verdicts["damaged"] < variants/3 {
		t.Errorf("few are seen to be damaged: %v", verdicts)
	}
	t.Logf("%v", verdicts)
}

// Nothing but a database of etcd whose sum is right is opened.
//
// covers: C-9
func TestNoDatabases(t *testing.T) {
	path := snapshotOf(t, small)
	db := contentOf(t, path)
	whole, err := os.ReadFile(path)
	must(t, err)
	for _, tt := range []struct {
		name   string
		data   []byte
		summed bool
		kind   error
		want   string
	}{
		{"empty", nil, false, snapshot.ErrTruncated, "read the snapshot: the snapshot is cut off: it is empty"},
		{"without its sum", db, false, snapshot.ErrTruncated, fmt.Sprintf("read the snapshot: the snapshot is cut off: its %d bytes are no database with a sum behind it", len(db))},
		{"another sum", append(bytes.Clone(db), make([]byte, 32)...), false, snapshot.ErrChecksum, fmt.Sprintf("read the snapshot: the sum at the end of the snapshot is not that of the database before it: %d bytes", len(whole))},
		{"a page of zeros", make([]byte, pageSize), true, snapshot.ErrDamaged, "the snapshot is damaged: open the database: file size too small 4128"},
		{"another file", bytes.Repeat([]byte("text"), pageSize), true, snapshot.ErrDamaged, "the snapshot is damaged: open the database: invalid database"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "snapshot")
			must(t, os.WriteFile(path, tt.data, 0o600))
			if tt.summed {
				resum(t, path)
			}
			_, err := (&snapshot.Worker{}).Inspect(t.Context(), path)
			if want := "inspect the snapshot: " + tt.want; !errors.Is(err, tt.kind) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	_, err = (&snapshot.Worker{}).Inspect(t.Context(), filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, snapshot.ErrWorker) || errors.Is(err, snapshot.ErrDamaged) {
		t.Errorf("of no file: %v, want %v", err, snapshot.ErrWorker)
	}
}
