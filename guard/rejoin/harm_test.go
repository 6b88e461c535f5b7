package rejoin

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// damages are the ways to spoil a file, none of which leaves it as it was for sure.
var damages = []struct {
	name string
	do   func(r *rand.Rand, b []byte) []byte
}{
	{"flips", func(r *rand.Rand, b []byte) []byte {
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"flips at the end", func(r *rand.Rand, b []byte) []byte {
		end := max(len(bytes.TrimRight(b, "\x00")), 1)
		for range 1 + r.IntN(4) {
			b[max(0, end-1-r.IntN(160))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"garbage", func(r *rand.Rand, b []byte) []byte {
		from := r.IntN(len(b))
		for i := from; i < min(len(b), from+1+r.IntN(64)); i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"truncation", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }},
	{"zero page", func(r *rand.Rand, b []byte) []byte {
		size := []int{512, 4096}[r.IntN(2)]
		from := r.IntN((len(b)+size-1)/size) * size
		clear(b[from:min(len(b), from+size)])
		return b
	}},
	{"zero tail", func(r *rand.Rand, b []byte) []byte { clear(b[r.IntN(len(b)):]); return b }},
	{"moved page", func(r *rand.Rand, b []byte) []byte {
		from, to := r.IntN(len(b)/512)*512, r.IntN(len(b)/512)*512
		copy(b[to:], slices.Clone(b[from:min(len(b), from+4096)]))
		return b
	}},
}

// harm is what was done to a disk.
type harm struct {
	log, bolt bool
	// honest is set if a crash could have left the log so.
	honest bool
	files  []int
	how    []string
}

func (h harm) String() string { return strings.Join(h.how, " and ") }

func (h harm) where() string {
	switch {
	case h.log && h.bolt:
		return "both"
	case h.log:
		return "the log"
	}
	return "the bolt file"
}

// spoil damages a segment, the bolt file, or one of each.
func spoil(t *testing.T, r *rand.Rand, files []string, sound [][]byte) harm {
	h := harm{honest: true}
	which := r.IntN(3)
	h.log, h.bolt = which != 0, which != 1
	damage := func(i int) []byte {
		how := damages[r.IntN(len(damages))]
		b := how.do(r, slices.Clone(sound[i]))
		overwrite(t, files[i], b)
		h.files, h.how = append(h.files, i), append(h.how, how.name+" of "+filepath.Base(files[i]))
		return b
	}
	if h.log {
		// The newest segment more often than each other.
		i := max(0, len(files)-2-r.IntN(2)*r.IntN(len(files)-1))
		h.honest = couldBeACrash(sound[i], damage(i)) && i == len(files)-2
	}
	if h.bolt {
		damage(len(files) - 1)
	}
	return h
}

// overwrite keeps the file's blocks: ext4 writes a file out that was emptied and
// filled again, which takes most of the time.
func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(data, 0)
	must(t, err)
	must(t, file.Truncate(int64(len(data))))
	must(t, file.Close())
}

// couldBeACrash tells whether every sector is as it was, or zero, or cut off.
func couldBeACrash(sound, damaged []byte) bool {
	for from := 0; from < len(damaged); from += sector {
		b := damaged[from:min(len(damaged), from+sector)]
		if kept := bytes.TrimRight(b, "\x00"); !bytes.HasPrefix(sound[from:], kept) {
			return false
		}
	}
	return true
}
