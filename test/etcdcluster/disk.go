package etcdcluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// blockBytes is what is left out of a copy where it is all zero.
const blockBytes = 64 << 10

// CopyDisk copies a data directory, of a member that runs too, with its modes. etcd
// reserves 64 MB for each segment of its WAL: what was not written is a hole in the
// copy.
func CopyDisk(from, to string) error {
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		if info.IsDir() {
			return os.MkdirAll(target, info.Mode().Perm())
		}
		return copyFile(path, target, info.Mode().Perm())
	})
	if err != nil {
		return fmt.Errorf("copy a data directory: %w", err)
	}
	return nil
}

func copyFile(from, to string, mode fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	block, zero := make([]byte, blockBytes), make([]byte, blockBytes)
	var size int64
	for {
		n, err := io.ReadFull(in, block)
		if !bytes.Equal(block[:n], zero[:n]) {
			if _, err := out.WriteAt(block[:n], size); err != nil {
				return err
			}
		}
		size += int64(n)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return out.Truncate(size)
		case err != nil:
			return err
		}
	}
}
