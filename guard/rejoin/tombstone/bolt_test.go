package tombstone

import (
	"bytes"
	"context"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/quorate/quorate/guard/rejoin/internal/disktest"
	"github.com/quorate/quorate/guard/rejoin/witness"
)

const other, me witness.ID = 0xb, 0xa

var (
	must    = disktest.Must
	edit    = disktest.Edit
	newBolt = disktest.NewBolt
)

//
func TestRead(t *testing.T) {
	with := func(change func(tx *bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			newBolt(t, dir, other)
			disktest.WriteBolt(t, dir, change)
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
		answer witness.Answer
		why    string
	}{
		{"removed", func(t *testing.T, dir string) { newBolt(t, dir, other, me) }, witness.Yes, "among 2 in members_removed"},
		{"others removed", func(t *testing.T, dir string) { newBolt(t, dir, other, 0xaa, 0xa0) }, witness.No, "not among 3 in members_removed"},
		{"nobody removed", func(t *testing.T, dir string) { newBolt(t, dir) }, witness.No, "not among 0 in members_removed"},
		{"many removed", func(t *testing.T, dir string) {
			ids := []witness.ID{me}
			for i := range witness.ID(5000) {
				ids = append(ids, i*0x123456789+0x100)
			}
			newBolt(t, dir, ids...)
		}, witness.Yes, "among 5001 in members_removed"},
		{"no file", func(*testing.T, string) {}, witness.No, "no bolt file"},
		{"young, without a bucket", func(t *testing.T, dir string) {
			newBolt(t, dir)
			edit(t, dir+"/member/snap/db", func([]byte) []byte { return nil })
			must(t, os.Remove(dir+"/member/snap/db"))
			db, err := bbolt.Open(dir+"/member/snap/db", 0o600, nil)
			must(t, err)
			must(t, db.Close())
		}, witness.No, "nothing was applied to the bolt file yet"},
		{"young, with the bucket meta", func(t *testing.T, dir string) { disktest.WriteBolt(t, dir, func(*bbolt.Tx) error { return nil }) }, witness.No, "nothing was applied to the bolt file yet"},
		{"the bucket lost", with(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte("members_removed")) }), witness.Unreadable, "DB: there is no bucket members_removed"},
		{"all buckets lost", with(func(tx *bbolt.Tx) error {
			for _, name := range append(disktest.Buckets, "meta") {
				if err := tx.DeleteBucket([]byte(name)); err != nil {
					return err
				}
			}
			return nil
		}), witness.Unreadable, "DB: there is no bucket members_removed"},
		{"a key in upper case", entry("C", "removed"), witness.Unreadable, `DB: bucket members_removed has the key "C"`},
		{"a key with zeros", entry("0c", "removed"), witness.Unreadable, `DB: bucket members_removed has the key "0c"`},
		{"a key that is no ID", entry("g", "removed"), witness.Unreadable, `DB: bucket members_removed has the key "g"`},
		{"a long key", entry("ccccccccccccccccc", "removed"), witness.Unreadable, "DB: bucket members_removed has what is no tombstone"},
		{"another value", entry("c", "Removed"), witness.Unreadable, "DB: bucket members_removed has what is no tombstone"},
		{"an empty file", damaged(func([]byte) []byte { return nil }), witness.Unreadable, "open DB: the bolt file is empty"},
		{"no database", damaged(func(b []byte) []byte { return bytes.Repeat([]byte("x"), len(b)) }), witness.Unreadable, "open DB: invalid database"},
		{"cut", damaged(func(b []byte) []byte { return b[:4*page] }), witness.Unreadable, "DB: it ends before the last of its 6 pages"},
		{"cut to one page", damaged(func(b []byte) []byte { return b[:page] }), witness.Unreadable, "open DB: file size too small 4096"},
		{"the first meta page damaged", damaged(func(b []byte) []byte { b[40] ^= 1; return b }), witness.Unreadable, "DB: meta page 0 is damaged"},
		{"the second meta page zeroed", damaged(func(b []byte) []byte { clear(b[page : 2*page]); return b }), witness.Unreadable, "DB: meta page 1 is damaged"},
		{"both meta pages zeroed", damaged(func(b []byte) []byte { clear(b[:2*page]); return b }), witness.Unreadable, "open DB: invalid database"},
		{"a meta page never written", damaged(func(b []byte) []byte { copy(b[page:2*page], b[:page]); return b }), witness.Unreadable, "DB: the meta pages are of transactions 2 and 2"},
		{"a folder for the file", func(t *testing.T, dir string) { must(t, os.MkdirAll(dir+"/member/snap/db", 0o700)) }, witness.Unreadable, "open the bolt file: DB is no regular file"},
		{"a file for the folder", func(t *testing.T, dir string) {
			must(t, os.Mkdir(dir+"/member", 0o700))
			must(t, os.WriteFile(dir+"/member/snap", nil, 0o600))
		}, witness.Unreadable, "open the bolt file: open DB: not a directory"},
		{"a pipe for the file", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(dir+"/member/snap", 0o700))
			must(t, syscall.Mkfifo(dir+"/member/snap/db", 0o600))
		}, witness.Unreadable, "open the bolt file: DB is no regular file"},
		{"a link that leads nowhere", func(t *testing.T, dir string) {
			must(t, os.MkdirAll(dir+"/member/snap", 0o700))
			must(t, os.Symlink(dir+"/gone", dir+"/member/snap/db"))
		}, witness.Unreadable, "DB is a link that leads nowhere"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.make(t, dir)
			want := witness.Witness{Answer: c.answer, Why: strings.ReplaceAll(c.why, "DB", dir+"/member/snap/db")}
			before := disktest.Listing(t, dir)
			if got := Read(t.Context(), dir, me); got != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
			if after := disktest.Listing(t, dir); before != after {
				t.Errorf("the directory was changed:\n%s\n%s", before, after)
			}
		})
	}
}

//
func TestReadOfALockedFile(t *testing.T) {
	dir := t.TempDir()
	path := newBolt(t, dir, me)
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	want := witness.Witness{Answer: witness.Unreadable, Why: "open " + path + ": timeout"}
	if got := Read(ctx, dir, me); got != want {
		t.Errorf("locked: got %q", got)
	}
}
