package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
)

func (f *folder) Create(ctx context.Context, name string, data []byte) (Version, error) {
	v, err := f.swap(ctx, name, data, func() error {
		switch _, err := f.Stat(ctx, name); {
		case err == nil:
			return ErrExists
		case errors.Is(err, ErrNotFound):
			return nil
		default:
			return err
		}
	})
	if err != nil {
		return "", fmt.Errorf("create object %s: %w", name, classifyFile(err))
	}
	return v, nil
}

func (f *folder) Replace(ctx context.Context, name string, data []byte, v Version) (Version, error) {
	after, err := f.swap(ctx, name, data, func() error { return f.unchanged(ctx, name, v) })
	if err != nil {
		return "", fmt.Errorf("replace object %s: %w", name, classifyFile(err))
	}
	return after, nil
}

func (f *folder) Remove(ctx context.Context, name string, v Version) error {
	err := checkName(name)
	if err == nil {
		err = f.locked(ctx, func() error {
			switch err := f.unchanged(ctx, name, v); {
			case errors.Is(err, ErrNotFound):
				return nil
			case err != nil:
				return err
			}
			return f.unlink(name)
		})
	}
	if err != nil {
		return fmt.Errorf("remove object %s: %w", name, classifyFile(err))
	}
	return nil
}

func (f *folder) unchanged(ctx context.Context, name string, v Version) error {
	info, err := f.Stat(ctx, name)
	if err == nil && info.Version != v {
		return ErrChanged
	}
	return err
}

// swap writes if the condition holds, with no other writer in between.
func (f *folder) swap(ctx context.Context, name string, data []byte, condition func() error) (Version, error) {
	if err := errors.Join(checkName(name), checkSmall(name, data)); err != nil {
		return "", err
	}
	file, err := f.temp(ctx, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	var info Info
	err = f.locked(ctx, func() error {
		if err := condition(); err != nil {
			return err
		}
		if err := os.Rename(file.Name(), f.path(name)); err != nil {
			return err
		}
		info, err = describe(file, name)
		return errors.Join(err, f.sync())
	})
	return info.Version, err
}
