package snapshot

import (
	"fmt"
	"io"
)

// Verify is Keyring.Verify with the default work factor.
func Verify(r io.Reader, k *Key) (Sealed, error) { return Keyring{Key: k}.Verify(r) }

// Verify reads an encrypted snapshot to its end, decrypts it, checks its sum and keeps
// nothing. It fails as Open and its reader do.
func (k Keyring) Verify(r io.Reader) (Sealed, error) {
	cipher, plain := newSummed(), newTrailer()
	ciphered, plainly := newAside(cipher), newAside(plain)
	defer plainly.Close()
	defer ciphered.Close()
	opened, err := k.decrypt(io.TeeReader(r, ciphered))
	if err != nil {
		return Sealed{}, err
	}
	if _, err := io.CopyBuffer(onlyWriter{plainly}, onlyReader{opened}, make([]byte, blockSize)); err != nil {
		return Sealed{}, err
	}
	plainly.Close()
	ciphered.Close()
	if err := plain.check(); err != nil {
		return Sealed{}, fmt.Errorf("read the snapshot: %w", err)
	}
	return Sealed{PlainSize: plain.size, Size: cipher.size, PlainSum: plain.whole(), Sum: cipher.text()}, nil
}

// onlyWriter hides what else a writer can do.
type onlyWriter struct{ io.Writer }

// Check reads a snapshot in plain to its end and checks its sum: ErrTruncated,
// ErrChecksum, or what r failed with. It gives the size and the sum of the whole.
func Check(r io.Reader) (size int64, sum string, err error) {
	plain := newTrailer()
	if _, err := io.CopyBuffer(onlyWriter{plain}, onlyReader{r}, make([]byte, blockSize)); err != nil {
		return 0, "", fmt.Errorf("read the snapshot: %w", err)
	}
	if err := plain.check(); err != nil {
		return plain.size, "", fmt.Errorf("read the snapshot: %w", err)
	}
	return plain.size, plain.whole(), nil
}
