package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"

	"filippo.io/age"
)

// Sealed is what there is to say of a snapshot and its encrypted object: their sizes
// in bytes, and their SHA-256 as "sha256:<hex>". Plain is the snapshot as etcd writes
// it, its own sum included.
type Sealed struct {
	PlainSize, Size int64
	PlainSum, Sum   string
}

// Seal encrypts a snapshot to a key, and checks the sum at its end as it passes. Only
// ciphertext is written. On an error the last part is not written, so that what is
// there cannot be taken for whole: ErrTruncated and ErrChecksum if the snapshot is
// not whole, else what reading or writing failed with.
func Seal(w io.Writer, r io.Reader, k *Key) (Sealed, error) {
	plain, cipher := newTrailer(), newSummed()
	plainly, ciphered := newAside(plain), newAside(cipher)
	defer ciphered.Close()
	defer plainly.Close()
	out := &failing{w: io.MultiWriter(w, ciphered)}
	encrypted, err := age.Encrypt(out, k.recipient)
	if err != nil {
		return Sealed{}, out.explain(err)
	}
	if _, err := io.CopyBuffer(io.MultiWriter(plainly, encrypted), onlyReader{r}, make([]byte, blockSize)); err != nil {
		return Sealed{}, out.explain(err)
	}
	plainly.Close()
	if err := plain.check(); err != nil {
		return Sealed{}, fmt.Errorf("read the snapshot: %w", err)
	}
	if err := encrypted.Close(); err != nil {
		return Sealed{}, out.explain(err)
	}
	ciphered.Close()
	return Sealed{PlainSize: plain.size, Size: cipher.size, PlainSum: plain.whole(), Sum: cipher.text()}, nil
}

// onlyReader hides what else a reader can do: io.Copy would do it all in one.
type onlyReader struct{ io.Reader }

// failing remembers that it was the writing that failed.
type failing struct {
	w   io.Writer
	err error
}

func (f *failing) Write(p []byte) (int, error) {
	n, err := f.w.Write(p)
	f.err = errors.Join(f.err, err)
	return n, err
}

func (f *failing) explain(err error) error {
	if f.err != nil {
		return fmt.Errorf("write the encrypted snapshot: %w", f.err)
	}
	return fmt.Errorf("read the snapshot: %w", err)
}

// summed is the size and the sum of what is written to it.
type summed struct {
	hash.Hash
	size int64
}

func newSummed() *summed { return &summed{Hash: sha256.New()} }

func (s *summed) Write(p []byte) (int, error) {
	s.size += int64(len(p))
	return s.Hash.Write(p)
}

func (s *summed) text() string { return "sha256:" + hex.EncodeToString(s.Sum(nil)) }
