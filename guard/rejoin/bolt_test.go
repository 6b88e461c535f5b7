package rejoin

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

//
func TestReadTombstone(t *testing.T) {
	with := func(change func(tx *bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			newBolt(t, dir, other)
			bolt(t, dir, change)
		}
	}
	entry := func(key, value string) func(*testing.T, string) {
		return with(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("members_removed")).Put([]byte(key), []byte(value))
		})
	}
	damaged := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) { edit(t, newBolt(t, dir, me), change) }
	}
	page := os.Getpagesize()
	for _, c := range []struct {
		name   string
		make   func(t *testing.T, dir string)
		answer Answer
		why    string
	}{
		{"removed", func(t *testing.T, dir string) { newBolt(t, dir, other, me) }, Yes, "among 2 in members_removed"},
		{"others removed", func(t *testing.T, dir string) { newBolt(t, dir, other, 0xaa, 0xa0) }, No, "not among 3 in members_removed"},
		{"nobody removed", func(t *testing.T, dir string) { newBolt(t, dir) }, No, "not among 0 in members_removed"},
		{"many removed", func(t *testing.T, dir string) {
			ids := []ID{me}
			for i := range ID(5000) {
				ids = append(ids, i*0x123456789+0x100)
			}
			newBolt(t, dir, ids...)
		}, Yes, "among 5001 in members_removed"},
		{"no file", func(*testing.T, string) {}, No, "no bolt file"},
		{"young, without a bucket", func(t *testing.T, dir string) {
			newBolt(t, dir)
			edit(t, dir+"/member/snap/db", func([]byte) []byte { return nil })
			must(t, os.Remove(dir+"/member/snap/db"))
			db, err := bbolt.Open(dir+"/member/snap/db", 0o600, nil)
			must(t, err)
			must(t, db.Close())
		}, No, "nothing was applied to the bolt file yet"},
		{"young, with the bucket meta", func(t *testing.T, dir string) { bolt(t, dir, func(*bbolt.Tx) error { return nil }) }, No, "nothing was applied to the bolt file yet"},
		{"the bucket lost", with(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("members_removed")) }), Unreadable, "DB: there is no bucket members_removed"},
		{"all buckets lost", with(func(tx *bbolt.Tx) error {
			for _, name := range append(etcdBuckets, "meta") {
				if err := tx.DeleteBucket([]byte(name)); err != nil {
					return err
				}
			}
			return nil
		}), Unreadable, "DB: there is no bucket members_removed"},
		{"a key in upper case", entry("C", "removed"), Unreadable, `DB: bucket members_removed has the key "C"`},
		{"a key with zeros", entry("0c", "removed"), Unreadable, `DB: bucket members_removed has the key "0c"`},
		{"a key that is no ID", entry("g", "removed"), Unreadable, `DB: bucket members_removed has the key "g"`},
		{"a long key", entry("ccccccccccccccccc", "removed"), Unreadable, "DB: bucket members_removed has what is no tombstone"},
		{"another value", entry("c", "Removed"), Unreadable, "DB: bucket members_removed has what is no tombstone"},
		{"an empty file", damaged(func([]byte) []byte { return nil }), Unreadable, "open DB: the bolt file is empty"},
		{"no database", damaged(func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) }), Unreadable, "open DB: invalid database"},
		{"cut", damaged(func(b []byte) []byte { return b[:4*page] }), Unreadable, "DB: it ends before the last of its 6 pages"},
		{"cut to one page", damaged(func(b []byte) []byte { return b[:page] }), Unreadable, "open DB: file size too small 4096"},
		{"the first meta page damaged", damaged(func(b []byte) []byte { b[40] ^= 1; return b }), Unreadable, "DB: meta page 0 is damaged"},
		{"the second meta page zeroed", damaged(func(b []byte) []byte { clear(b[page : 2*page]); return b }), Unreadable, "DB: meta page 1 is damaged"},
		{"both meta pages zeroed", damaged(func(b []byte) []byte { clear(b[:2*page]); return b }), Unreadable, "open DB: invalid database"},
		{"a meta page never written", damaged(func(b []byte) []byte { copy(b[page:2*page], b[:page]); return b }), Unreadable, "DB: the meta pages are of transactions 2 and 2"},
		{"a folder for the file", func(t *testing.T, dir string) { must(t, os.MkdirAll(dir+"/member/snap/db", 0o700)) }, Unreadable, "open the bolt file: DB is no regular file"},
		{"a file for the folder", func(t *testing.T, dir string) {
			must(t, os.Mkdir(dir+"/member", 0o700))
			must(t, os.WriteFile(dir+"/member/snap", nil, 0o600))
		}, Unreadable, "open the bolt file: open DB: not a directory"},
		{"a pipe for the file", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(dir+"/member/snap", 0o700))
			must(t, syscall.Mkfifo(dir+"/member/snap/db", 0o600))
		}, Unreadable, "open the bolt file: DB is no regular file"},
		{"a link that leads nowhere", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(dir+"/member/snap", 0o700))
			must(t, os.Symlink(dir+"/gone", dir+"/member/snap/db"))
		}, Unreadable, "DB is a link that leads nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			want := Witness{c.answer, strings.ReplaceAll(c.why, "DB", dir+"/member/snap/db")}
			before := listFiles(t, dir)
			if got := ReadTombstone(t.Context(), dir, me); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if after := listFiles(t, dir); before != after {
				t.Errorf("the directory was changed:\n%s\n%s", before, after)
			}
		})
	}
}

//
func TestReadTombstoneOfALockedFile(t *testing.T) {
	dir := t.TempDir()
	path := newBolt(t, dir, me)
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	want := Witness{Unreadable, "open " + path + ": timeout"}
	if got := ReadTombstone(ctx, dir, me); got != want {
		t.Errorf("locked: got %q", got)
	}
	time.AfterFunc(700*time.Millisecond, func() { _ = db.Close() })
	if got := reader().Tombstone(t.Context(), dir, me); got.Answer != Yes {
		t.Errorf("unlocked while it was asked again: got %q", got)
	}
}

// loop makes the page of the root bucket a branch that leads to itself: bbolt then
// descends until its stack is full, which no program survives.
func loop(t *testing.T, path string) {
	edit(t, path, func(b []byte) []byte {
		page := os.Getpagesize()
		meta := b[pageHeaderBytes:]
		if second := b[page+pageHeaderBytes:]; binary.NativeEndian.Uint64(second[transactionAt:]) > binary.NativeEndian.Uint64(meta[transactionAt:]) {
			meta = second
		}
		root := binary.NativeEndian.Uint64(meta[16:])
		p := b[int(root)*page:]
		binary.NativeEndian.PutUint16(p[8:], 1)                // a branch
		binary.NativeEndian.PutUint16(p[10:], 1)               // of one element
		binary.NativeEndian.PutUint32(p[pageHeaderBytes:], 16) // whose key is after it
		binary.NativeEndian.PutUint32(p[pageHeaderBytes+4:], 1)
		binary.NativeEndian.PutUint64(p[pageHeaderBytes+8:], root)
		return b
	})
}

func TestChild(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   string
		make   func(t *testing.T, dir string)
		answer Answer
		why    string
	}{
		{"removed", "serve", func(t *testing.T, dir string) { newBolt(t, dir, me) }, Yes, "among 1 in members_removed"},
		{"not removed", "serve", func(t *testing.T, dir string) { newBolt(t, dir, other) }, No, "not among 1 in members_removed"},
		{"killed by the file", "serve", func(t *testing.T, dir string) { loop(t, newBolt(t, dir, me)) }, Unreadable, "the reader crashed: runtime: goroutine stack exceeds 16777216-byte limit"},
		{"nonsense", "garbage", nil, Unreadable, "the reader talks nonsense: invalid character 'o' in literal null (expecting 'u')"},
		{"an answer that is none", "maybe", nil, Unreadable, `the reader talks nonsense: it answers "maybe"`},
		{"an exit", "silent", nil, Unreadable, "the reader crashed: exit status 3"},
		{"an endless line", "endless", nil, Unreadable, "the reader talks nonsense: bufio: buffer full"},
		{"a hang", "hang", nil, Unreadable, "the reader did not answer in time"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if c.make != nil {
				c.make(t, dir)
			}
			r := childThat(c.mode)
			if c.mode == "hang" {
				r.Timeout = 100 * time.Millisecond
			}
			if got := r.once(t.Context(), request{Ask: askTombstone, DataDir: dir, ID: me, Timeout: r.timeout()}); got != (Witness{c.answer, c.why}) {
				t.Errorf("got  %q\nwant %q", got, Witness{c.answer, c.why})
			}
		})
	}
}

func TestChildThatIsNotThere(t *testing.T) {
	r := Child{Program: filepath.Join(t.TempDir(), "reader")}
	want := Witness{Unreadable, "start the reader: fork/exec " + r.Program + ": no such file or directory"}
	began := time.Now()
	if got := r.Tombstone(t.Context(), t.TempDir(), me); got != want {
		t.Errorf("got %q", got)
	}
	if took := time.Since(began); took < firstBackoff*3 {
		t.Errorf("three attempts took %s", took)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("over"))
	began = time.Now()
	if got := r.Tombstone(ctx, t.TempDir(), me); got.Answer != Unreadable {
		t.Errorf("got %q", got)
	}
	if took := time.Since(began); took >= firstBackoff {
		t.Errorf("without time it took %s", took)
	}
}
