package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
)

var errBroken = fmt.Errorf("the line broke")

// broken fails after so many bytes.
type broken struct {
	r    io.Reader
	left int
}

func (b *broken) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errBroken
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (b *broken) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left <= 0 {
		b.left = 0
		return 0, errBroken
	}
	return len(p), nil
}

// A line that breaks says nothing of the snapshot.
func TestBrokenLine(t *testing.T) {
	k, plain := keyFor(t), summedOf(t, 200<<10)
	object, _ := sealed(t, plain, k)
	for _, left := range []int{0, 10, headerSize, 1000, sealedSize + headerSize, 190 << 10} {
		_, err := Verify(&broken{bytes.NewReader(object), left}, k)
		if want := "read the encrypted snapshot: the line broke"; !errors.Is(err, errBroken) || errors.Is(err, ErrDamaged) || err.Error() != want {
			t.Errorf("verified, after %d bytes: %v, want %s", left, err, want)
		}
		_, err = Seal(io.Discard, &broken{bytes.NewReader(plain), left}, k)
		if want := "read the snapshot: the line broke"; !errors.Is(err, errBroken) || err.Error() != want {
			t.Errorf("sealed, after %d bytes read: %v, want %s", left, err, want)
		}
		_, err = Seal(&broken{left: left}, bytes.NewReader(plain), k)
		if want := "write the encrypted snapshot: the line broke"; !errors.Is(err, errBroken) || err.Error() != want {
			t.Errorf("sealed, after %d bytes written: %v, want %s", left, err, want)
		}
	}
}
