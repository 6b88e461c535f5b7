package store

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
)

// probePrefix begins the names of the objects that a probe writes. Each probe has its
// own, so that two do not meet.
const probePrefix = "quorate-probe-"

// probe finds out whether conditions hold: the second of two creations must fail, and so
// must a replacement by a version that is gone.
func probe(ctx context.Context, s Store) (err error) {
	name := probePrefix + nonce()
	defer func() {
		if gone := s.Delete(ctx, name); err == nil && gone != nil {
			err = fmt.Errorf("clean up after probing for conditional writes: %w", gone)
		}
	}()
	stale, err := s.Create(ctx, name, []byte("first"))
	if err != nil {
		return fmt.Errorf("probe for conditional writes: %w", err)
	}
	_, err = s.Create(ctx, name, []byte("again"))
	if err := held(err, ErrExists, "created over an object that exists"); err != nil {
		return err
	}
	if _, err := s.Replace(ctx, name, []byte("second"), stale); err != nil {
		return fmt.Errorf("probe for conditional writes: %w", err)
	}
	_, err = s.Replace(ctx, name, []byte("third"), stale)
	return held(err, ErrChanged, "replaced an object by a version that was gone")
}

func held(err, want error, otherwise string) error {
	switch {
	case err == nil:
		return fmt.Errorf("%w: it %s", ErrUnconditional, otherwise)
	case errors.Is(err, want):
		return nil
	}
	return fmt.Errorf("probe for conditional writes: %w", err)
}

func nonce() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
