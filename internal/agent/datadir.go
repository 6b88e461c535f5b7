package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// checkDataDir refuses a data directory that etcd could not use, before anything
// is asked or touched. One that is not there yet is etcd's to make.
func (c *Config) checkDataDir() error {
	for _, dir := range []string{c.DataDir, filepath.Join(c.DataDir, "member"), filepath.Join(c.DataDir, "member", "wal"), filepath.Join(c.DataDir, "member", "snap")} {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return fmt.Errorf("%w: dataDir: %w", ErrConfig, err)
		case !info.IsDir():
			return fmt.Errorf("%w: dataDir: %s is a file and should be a folder", ErrConfig, dir)
		}
		if err := unix.Access(dir, unix.R_OK|unix.W_OK|unix.X_OK); err != nil {
			return fmt.Errorf("%w: dataDir: %s (%s) cannot be read and written by user %d: %w", ErrConfig, dir, info.Mode(), os.Geteuid(), err)
		}
	}
	return nil
}

// leftover is where files without a WAL are put aside.
const leftover = "member.without-wal"

// clear makes room for a start on an empty disk. A database without its WAL would
// be taken for the state that the cluster's log continues, and a member with other
// data than the rest is the result: it is put aside, and never deleted here.
func (c *Config) clear() error {
	member := filepath.Join(c.DataDir, "member")
	found, err := os.ReadDir(member)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(found) == 0) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for files without a WAL: %w", err)
	}
	aside := filepath.Join(c.DataDir, leftover)
	if _, err := os.Lstat(aside); err == nil {
		return fmt.Errorf("put %s aside: %s is there already: look at it and remove it", member, aside)
	}
	if err := os.Rename(member, aside); err != nil {
		return fmt.Errorf("put files without a WAL aside: %w", err)
	}
	return nil
}
