package worker

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// Whatever fits into a batch, the keys that are alive come sorted, once each, at their
// last revision.
func TestAliveInBatches(t *testing.T) {
	r, want := rand.New(rand.NewPCG(1, 2)), map[string]int64{}
	path := snapshotOf(t, func(kv mvcc.KV) {
		for revision := int64(2); revision < 700; {
			key := fmt.Sprintf("/%d/%d", r.IntN(3), r.IntN(100))
			if _, there := want[key]; !there || r.IntN(3) > 0 {
				put(kv, key, "")
				want[key] = revision
			} else {
				kv.DeleteRange([]byte(key), nil)
				delete(want, key)
			}
			revision++
		}
	})
	for _, most := range []int{1, 300, 4000, 1 << 20} {
		for _, prefix := range []string{"", "/1/"} {
			got, last := map[string]int64{}, ""
			must(t, reading(path, func(tx *bolt.Tx) error {
				return alive(tx.Bucket(keyBucket), prefix, most, func(name string, revision []byte) error {
					c, err := changeOf(revision, nil)
					if name <= last {
						t.Errorf("%q comes after %q", name, last)
					}
					got[name], last = c.main, name
					return err
				})
			}))
			of := maps.Clone(want)
			maps.DeleteFunc(of, func(key string, _ int64) bool { return !strings.HasPrefix(key, prefix) })
			if !maps.Equal(got, of) {
				t.Errorf("%d bytes, %q: %d keys, want %d; %v", most, prefix, len(got), len(of), slices.Sorted(maps.Keys(got))[:3])
			}
		}
	}
}
