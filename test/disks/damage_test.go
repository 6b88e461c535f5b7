package disks

import (
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// damage is done to a copy of a disk, in place.
type damage func(t *testing.T, dir string)

func without(parts ...string) damage {
	return func(t *testing.T, dir string) {
		must(t, os.RemoveAll(filepath.Join(append([]string{dir, "member"}, parts...)...)))
	}
}

func wiped(t *testing.T, dir string) {
	must(t, os.RemoveAll(filepath.Join(dir, "member")))
}

func both(all ...damage) damage {
	return func(t *testing.T, dir string) {
		for _, d := range all {
			d(t, dir)
		}
	}
}

// segments of the WAL, oldest first.
func segments(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "member", "wal", "*.wal"))
	must(t, err)
	if len(paths) == 0 {
		t.Fatalf("%s has no segment", dir)
	}
	slices.Sort(paths)
	return paths
}

// frames are the offsets of the records in a segment: each has its length before
// it, and the padding to eight bytes in the highest of these.
func frames(t *testing.T, path string) (offsets []int64, end int64) {
	t.Helper()
	file, err := os.Open(path)
	must(t, err)
	defer file.Close()
	for {
		var frame [8]byte
		if _, err := file.ReadAt(frame[:], end); err == io.EOF {
			return offsets, end
		} else if err != nil {
			t.Fatal(err)
		}
		n := binary.LittleEndian.Uint64(frame[:])
		if n == 0 {
			return offsets, end
		}
		offsets = append(offsets, end)
		end += 8 + int64(n&(1<<56-1)) + int64(n>>56&7)
	}
}

func last(t *testing.T, dir string) (path string, offsets []int64, end int64) {
	t.Helper()
	paths := segments(t, dir)
	path = paths[len(paths)-1]
	offsets, end = frames(t, path)
	if len(offsets) < 4 {
		t.Fatalf("%s has %d records", path, len(offsets))
	}
	return path, offsets, end
}

// cutTail ends the WAL's file within its last record, as a crash does to a file that
// grows.
func cutTail(t *testing.T, dir string) {
	path, offsets, _ := last(t, dir)
	must(t, os.Truncate(path, offsets[len(offsets)-1]+9))
}

// zeroTail leaves the last record's length and zeros for all the rest, as a crash
// does to a file whose space was reserved.
func zeroTail(t *testing.T, dir string) {
	path, offsets, end := last(t, dir)
	zero(t, path, offsets[len(offsets)-1]+8, end)
}

// zeroMiddle loses what is no tail: two whole records, and others follow.
func zeroMiddle(t *testing.T, dir string) {
	path, offsets, _ := last(t, dir)
	half := len(offsets) / 2
	zero(t, path, offsets[half-1], offsets[half+1])
}

// zeroHeaders loses the IDs in each segment.
func zeroHeaders(t *testing.T, dir string) {
	for _, path := range segments(t, dir) {
		zero(t, path, 0, 512)
	}
}

// cutBolt leaves the bolt file's meta pages and one more; zeroBolt leaves them and
// loses all the rest.
func cutBolt(t *testing.T, dir string) {
	must(t, os.Truncate(filepath.Join(dir, "member", "snap", "db"), 3*int64(os.Getpagesize())))
}

func zeroBolt(t *testing.T, dir string) {
	path := filepath.Join(dir, "member", "snap", "db")
	info, err := os.Stat(path)
	must(t, err)
	zero(t, path, 2*int64(os.Getpagesize()), info.Size())
}

func zero(t *testing.T, path string, from, to int64) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(make([]byte, to-from), from)
	must(t, err)
	must(t, file.Close())
}

// trace is what is seen of a disk from outside: names, sizes, times, modes.
func trace(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil {
			out = append(out, fmt.Sprint(path, info.Mode(), info.ModTime(), info.Size()))
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return out
}
