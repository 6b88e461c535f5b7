package snapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"filippo.io/age"
)

// wound is one way to make something else of an encrypted snapshot.
type wound struct {
	name string
	of   func(r *rand.Rand, object []byte) []byte
}

const (
	headerSize = 200 // about
	sealedSize = blockSize + 16
)

var wounds = []wound{
	{"empty", func(*rand.Rand, []byte) []byte { return nil }},
	{"cut", func(r *rand.Rand, o []byte) []byte { return o[:r.IntN(len(o))] }},
	{"cut in the header", func(r *rand.Rand, o []byte) []byte { return o[:r.IntN(headerSize)] }},
	{"without its beginning", func(r *rand.Rand, o []byte) []byte { return o[1+r.IntN(len(o)-1):] }},
	{"a bit", func(r *rand.Rand, o []byte) []byte { return flipped(r, o, len(o)) }},
	{"a bit of the header", func(r *rand.Rand, o []byte) []byte { return flipped(r, o, headerSize) }},
	{"random", func(r *rand.Rand, o []byte) []byte { return noise(r, r.IntN(len(o))) }},
	{"random after the header", func(r *rand.Rand, o []byte) []byte { return append(bytes.Clone(o[:headerSize+16]), noise(r, 1000)...) }},
	{"more behind it", func(r *rand.Rand, o []byte) []byte { return append(bytes.Clone(o), noise(r, 1+r.IntN(100))...) }},
	{"a part left out", func(r *rand.Rand, o []byte) []byte {
		return append(bytes.Clone(o[:headerSize]), o[headerSize+1+r.IntN(sealedSize):]...)
	}},
	{"a part twice", func(r *rand.Rand, o []byte) []byte {
		return append(bytes.Clone(o[:len(o)/2]), o[len(o)/2-1-r.IntN(1000):]...)
	}},
	{"lines without end", func(r *rand.Rand, o []byte) []byte {
		return append([]byte("age-encryption.org/v1\n-> X25519 "), bytes.Repeat([]byte("a"), r.IntN(1<<16))...)
	}},
}

func flipped(r *rand.Rand, object []byte, within int) []byte {
	object = bytes.Clone(object)
	object[r.IntN(within)] ^= 1 << r.IntN(8)
	return object
}

func noise(r *rand.Rand, size int) []byte {
	out := make([]byte, size)
	for i := range size / 8 {
		binary.LittleEndian.PutUint64(out[8*i:], r.Uint64())
	}
	return out
}

// readAll reads a snapshot by one of the ways of this package.
func readAll(i int, k *Key, object []byte) error {
	if i%8 == 0 {
		_, err := Verify(bytes.NewReader(object), k)
		return err
	}
	r, err := Open(bytes.NewReader(object), k)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(onlyWriter{io.Discard}, r, make([]byte, blockSize))
	return err
}

// Of 10,000 damaged objects none is taken for whole, and each is told by a kind.
//
// covers: C-9
func TestDamagedObjects(t *testing.T) {
	const variants, seed = 10_000, 6
	k, r := keyFor(t), rand.New(rand.NewPCG(seed, seed))
	object, _ := sealed(t, summedOf(t, 66<<10), k)
	kinds := map[string]int{}
	for i := range variants {
		w := wounds[i%len(wounds)]
		err := readAll(i, k, w.of(r, object))
		switch {
		case errors.Is(err, ErrTruncated):
			kinds["truncated"]++
		case errors.Is(err, ErrDamaged):
			kinds["damaged"]++
		case errors.Is(err, ErrKey):
			kinds["key"]++
		default:
			t.Fatalf("variant %d of seed %d, %s: %v", i, seed, w.name, err)
		}
	}
	t.Logf("%d variants: %v", variants, kinds)
}

// encrypted is an object that age finds in order, whatever is in it.
func encrypted(t testing.TB, plain []byte, to age.Recipient) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to)
	must(t, err)
	_, err = w.Write(plain)
	must(t, err)
	must(t, w.Close())
	return out.Bytes()
}

// The machine API of Talos ends a stream that broke like one that is complete, so a cut
// snapshot may come to be encrypted in order.
func TestDamagedWithin(t *testing.T) {
	k, whole := keyFor(t), summedOf(t, 64<<10)
	flip := bytes.Clone(whole)
	flip[1000] ^= 1
	for _, tt := range []struct {
		name  string
		plain []byte
		want  error
		text  string
	}{
		{"empty", nil, ErrTruncated, "the snapshot is cut off: it is empty"},
		{"a byte", whole[:1], ErrTruncated, "the snapshot is cut off: its 1 bytes are no database with a sum behind it"},
		{"a sum alone", whole[:32], ErrTruncated, "the snapshot is cut off: its 32 bytes are no database with a sum behind it"},
		{"without its sum", whole[:64<<10], ErrTruncated, "the snapshot is cut off: its 65536 bytes are no database with a sum behind it"},
		{"cut", whole[:len(whole)-1], ErrTruncated, "the snapshot is cut off: its 65567 bytes are no database with a sum behind it"},
		{"cut where a sum could be", whole[:4096+32], ErrChecksum, "the sum at the end of the snapshot is not that of the database before it: 4128 bytes"},
		{"a bit", flip, ErrChecksum, "the sum at the end of the snapshot is not that of the database before it: 65568 bytes"},
		{"more behind it", append(bytes.Clone(whole), whole[:512]...), ErrChecksum, "the sum at the end of the snapshot is not that of the database before it: 66080 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			object, text := encrypted(t, tt.plain, k.recipient), "read the snapshot: "+tt.text
			for i := range 2 {
				if err := readAll(i, k, object); !errors.Is(err, tt.want) || !errors.Is(err, ErrDamaged) || err.Error() != text {
					t.Errorf("read by way %d: %v, want %s", i, err, text)
				}
			}
			var out bytes.Buffer
			if _, err := Seal(&out, bytes.NewReader(tt.plain), k); !errors.Is(err, tt.want) || err.Error() != text {
				t.Errorf("sealed: %v, want %s", err, text)
			}
			if err := readAll(1, k, out.Bytes()); !errors.Is(err, ErrTruncated) {
				t.Errorf("what Seal left behind: %v, want %v", err, ErrTruncated)
			}
			if _, _, err := Check(bytes.NewReader(tt.plain)); !errors.Is(err, tt.want) || err.Error() != text {
				t.Errorf("checked: %v, want %s", err, text)
			}
		})
	}
}

// However a snapshot comes in pieces, its tail is found.
func TestTrailerInPieces(t *testing.T) {
	whole := summedOf(t, 1024)
	for _, piece := range []int{1, 7, 31, 32, 33, 63, 64, 512, 2000} {
		got := newTrailer()
		for rest := whole; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			_, _ = got.Write(rest[:min(piece, len(rest))])
		}
		if err := got.check(); err != nil {
			t.Errorf("pieces of %d: %v", piece, err)
		}
		if sum := got.whole(); sum != sumOf(whole) {
			t.Errorf("pieces of %d: %s", piece, sum)
		}
	}
}
