package restore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/quorate/quorate/internal/store"
)

// Markers keep the marker in the store, by compare-and-swap.
type Markers struct{ Store Store }

// Load reads the marker: ErrNoMarker, ErrNewerMarker, ErrMarker, or the store's error.
func (s Markers) Load(ctx context.Context) (*Marker, store.Version, error) {
	r, info, err := s.Store.Get(ctx, MarkerName)
	if errors.Is(err, store.ErrNotFound) {
		return nil, "", ErrNoMarker
	}
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", MarkerName, err)
	}
	defer func() { _ = r.Close() }() // nothing was written to it
	data, err := io.ReadAll(io.LimitReader(r, store.MaxSmall+1))
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", MarkerName, err)
	}
	m, err := Decode(data)
	return m, info.Version, err
}

// Create writes the marker if there is none; store.ErrExists if there is.
func (s Markers) Create(ctx context.Context, m *Marker) (store.Version, error) {
	m.Schema = Schema
	m.Sequence++
	data, err := m.Encode()
	if err != nil {
		return "", err
	}
	v, err := s.Store.Create(ctx, MarkerName, data)
	if err != nil {
		return "", fmt.Errorf("create %s: %w", MarkerName, err)
	}
	return v, nil
}

var (
	// ErrOther: another restore's marker is there.
	ErrOther = errors.New("another restore has begun")
	// ErrUnsure: it is open whether the marker was written.
	ErrUnsure = errors.New("it is open whether the restore has begun")
)

// Begin creates the marker of a restore, and looks what there is where that was not
// answered: it gives the marker, or with ErrOther the other restore's. ErrUnsure where the
// store does not tell; after any other error there is no marker.
func (s Markers) Begin(ctx context.Context, m *Marker) (*Marker, error) {
	_, err := s.Create(ctx, m)
	if err == nil {
		return m, nil
	}
	is, _, loaded := s.Load(ctx)
	switch {
	case loaded == nil && is.Owner.Identity == m.Owner.Identity && is.Epoch == m.Epoch:
		return is, nil
	case loaded == nil:
		return is, fmt.Errorf("%w: %w", ErrOther, err)
	case errors.Is(loaded, ErrNoMarker):
		return nil, err
	}
	return nil, fmt.Errorf("%w: %w", ErrUnsure, errors.Join(err, loaded))
}

// Save replaces the marker that was read at a version, and raises its sequence:
// store.ErrChanged if it is another one now, store.ErrNotFound if it is gone.
func (s Markers) Save(ctx context.Context, m *Marker, v store.Version) (store.Version, error) {
	m.Sequence++
	return s.put(ctx, m, v)
}

func (s Markers) put(ctx context.Context, m *Marker, v store.Version) (store.Version, error) {
	m.Schema = max(m.Schema, Schema) // what is written may have what an older form has not
	data, err := m.Encode()
	if err != nil {
		return "", err
	}
	if v, err = s.Store.Replace(ctx, MarkerName, data, v); err != nil {
		return "", fmt.Errorf("save %s: %w", MarkerName, err)
	}
	return v, nil
}

// Delete removes the marker that was read at a version; one that is gone is a success.
func (s Markers) Delete(ctx context.Context, v store.Version) error {
	if err := s.Store.Remove(ctx, MarkerName, v); err != nil {
		return fmt.Errorf("delete %s: %w", MarkerName, err)
	}
	return nil
}
