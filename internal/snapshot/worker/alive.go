package worker

import (
	"bytes"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

const (
	// batchSize bounds what is kept of keys at a time, in bytes.
	batchSize = 12 << 20
	// entrySize is what an entry costs besides its key: its place in the map, its
	// revision, and the head of the string.
	entrySize = 96
)

// alive gives the keys under prefix that are there at the last revision, sorted, each
// with the value of the bucket that it has. A bucket is sorted by revision, so each
// time that it goes through it, it takes as many of the smallest keys as fit into most
// bytes, from the last one that it gave: sorting on disk would write keys in plain.
func alive(b *bolt.Bucket, prefix string, most int, use func(name string, revision []byte) error) error {
	for from, more := "", true; more; {
		taken := &batch{entries: map[string]entry{}, most: most, from: from}
		if err := taken.fill(b, prefix); err != nil {
			return err
		}
		names := taken.sorted()
		for _, name := range names {
			e := taken.entries[name]
			if from = name; e.deleted {
				continue
			}
			if err := use(name, e.revision[:]); err != nil {
				return err
			}
		}
		more = taken.cut
	}
	return nil
}

// batch is the smallest keys after from, as their last change left them.
type batch struct {
	entries map[string]entry
	size    int // and it is at most most, in bytes
	most    int
	from    string
	cut     bool   // there are more, from limit on
	limit   string // not taken any more
}

type entry struct {
	revision [revisionSize]byte
	deleted  bool
}

func (t *batch) fill(b *bolt.Bucket, prefix string) error {
	return ordered(b, keyBucket, func(k, v []byte) error {
		c, err := changeOf(k, v)
		if err != nil {
			return err
		}
		if len(c.name) == 0 || !bytes.HasPrefix(c.name, []byte(prefix)) || !t.wants(c.name) {
			return nil
		}
		t.take(k, c)
		return nil
	})
}

func (t *batch) wants(name []byte) bool {
	return string(name) > t.from && (!t.cut || string(name) < t.limit)
}

func (t *batch) take(k []byte, c change) {
	e := entry{deleted: c.deletes}
	copy(e.revision[:], k)
	if _, known := t.entries[string(c.name)]; !known {
		t.size += len(c.name) + entrySize
	}
	t.entries[string(c.name)] = e
	if t.size > t.most {
		t.halve()
	}
}

// halve gives the larger half of the keys back; the first one is always kept.
func (t *batch) halve() {
	names, size := t.sorted(), 0
	for i, name := range names {
		size += len(name) + entrySize
		if size <= t.most/2 || i == 0 {
			continue
		}
		if !t.cut || name < t.limit {
			t.cut, t.limit = true, strings.Clone(name)
		}
		t.size -= len(name) + entrySize
		delete(t.entries, name)
	}
}

func (t *batch) sorted() []string {
	names := make([]string, 0, len(t.entries))
	for name := range t.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
