package snapshot

import (
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// sourced remembers what reading the ciphertext failed with, which is no damage.
type sourced struct {
	r   io.Reader
	err error
}

func (s *sourced) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// explainHeader says why a header does not open. What age says quotes it, and it may be
// of any length.
func (s *sourced) explainHeader(err error) error {
	switch {
	case s.err != nil:
		return fmt.Errorf("read the encrypted snapshot: %w", s.err)
	case errors.Is(err, ErrWorkFactor):
		return fmt.Errorf("open the snapshot: %w", err)
	}
	if _, ok := errors.AsType[*age.NoIdentityMatchError](err); ok {
		return fmt.Errorf("open the snapshot: %w", ErrKey)
	}
	return fmt.Errorf("open the snapshot: %w: it has no header of age, or not as it was written", ErrDamaged)
}

// decrypted is a plaintext whose errors are of a kind.
type decrypted struct {
	r      io.Reader
	source *sourced
}

func (d *decrypted) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case d.source.err != nil:
		return n, fmt.Errorf("read the encrypted snapshot: %w", d.source.err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return n, fmt.Errorf("decrypt the snapshot: %w", ErrTruncated)
	}
	return n, fmt.Errorf("decrypt the snapshot: %w: a part is not as it was written", ErrDamaged)
}
