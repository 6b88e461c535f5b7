package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	lockName   = ".lock"
	tempPrefix = ".put-"
)

// folder is a Store in a folder of a file system. Writers, of other processes too, take
// turns by a lock on a file.
type folder struct{ dir string }

// NewFolder makes a store of a folder, which is created if it is missing.
func NewFolder(dir string) (Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the store's folder: %w", classifyFile(err))
	}
	return &folder{dir: dir}, nil
}

func (f *folder) Sweep(_ context.Context, before time.Time) error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return fmt.Errorf("sweep: %w", classifyFile(f.missing(err)))
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), tempPrefix) && info.ModTime().Before(before) {
			errs = append(errs, os.Remove(f.path(e.Name())))
		}
	}
	if err := errors.Join(errs...); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("sweep: %w", classifyFile(err))
	}
	return nil
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) Probe(ctx context.Context) error { return probe(ctx, f) }

func (f *folder) Get(ctx context.Context, name string) (io.ReadCloser, Info, error) {
	file, info, err := f.open(ctx, name)
	if err != nil {
		return nil, Info{}, fmt.Errorf("get object %s: %w", name, classifyFile(err))
	}
	return &fileReader{ctx: ctx, file: file}, info, nil
}

func (f *folder) Stat(ctx context.Context, name string) (Info, error) {
	file, info, err := f.open(ctx, name)
	if err != nil {
		return Info{}, fmt.Errorf("stat object %s: %w", name, classifyFile(err))
	}
	return info, file.Close()
}

// open describes the very file that it opens: another may have the name a moment later.
func (f *folder) open(ctx context.Context, name string) (*os.File, Info, error) {
	if err := errors.Join(checkName(name), ctx.Err()); err != nil {
		return nil, Info{}, err
	}
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, Info{}, f.missing(err)
	}
	info, err := describe(file, name)
	if err != nil {
		file.Close()
		return nil, Info{}, err
	}
	return file, info, nil
}

// missing tells an object that is absent from a folder that is.
func (f *folder) missing(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, gone := os.Stat(f.dir); errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("%w: the folder %s is gone", ErrSettings, f.dir)
	}
	return err
}

// describe gives a file's version: by content where it can be written on condition, else
// by what a new file does not share with an old one.
func describe(file *os.File, name string) (Info, error) {
	stat, err := file.Stat()
	if err != nil {
		return Info{}, err
	}
	if !stat.Mode().IsRegular() {
		return Info{}, fs.ErrNotExist
	}
	info := Info{Name: name, Size: stat.Size(), Modified: stat.ModTime()}
	if info.Size > MaxSmall {
		info.Version = Version(fmt.Sprintf("%d@%d", info.Size, info.Modified.UnixNano()))
		return info, nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(file, 0, MaxSmall+1)); err != nil {
		return Info{}, err
	}
	info.Version = Version(hex.EncodeToString(hash.Sum(nil)))
	return info, nil
}

func (f *folder) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		entries, err := os.ReadDir(f.dir) // sorted by name
		if err != nil {
			yield(Info{}, fmt.Errorf("list objects: %w", classifyFile(f.missing(err))))
			return
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(e.Name(), prefix) {
				continue
			}
			info, err := f.Stat(ctx, e.Name())
			if errors.Is(err, ErrNotFound) {
				continue // deleted in between
			}
			if !yield(info, err) || err != nil {
				return
			}
		}
	}
}

// fileReader stops at the end of its context, as a download does.
type fileReader struct {
	ctx  context.Context
	file *os.File
}

func (r *fileReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.file.Read(p)
}

func (r *fileReader) Close() error { return r.file.Close() }

func classifyFile(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", ErrDenied, err)
	}
	return err
}
