package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/quorate/quorate/guard/rejoin"
)

// checkDataDir refuses a data directory that etcd could not use, before anything
// is asked or touched. One that is not there yet is etcd's to make.
func (c *Config) checkDataDir() error {
	for _, dir := range []string{c.DataDir, filepath.Join(c.DataDir, "member"), filepath.Join(c.DataDir, "member", "wal"), filepath.Join(c.DataDir, "member", "snap")} {
		info, err := os.Stat(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
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

// ownerFile in the data directory has the name of the member that the disk was set
// up for: in its own files etcd keeps IDs alone where they can be read at once.
const ownerFile = "quorate-member"

// ownerOnDisk is that name; empty if there is none, as on disks of another agent.
func (c *Config) ownerOnDisk() string {
	content, err := os.ReadFile(filepath.Join(c.DataDir, ownerFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(content))
}

// own writes the name.
func (c *Config) own(id Identity) error {
	if c.ownerOnDisk() == id.Name {
		return nil
	}
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	return replaceFile(filepath.Join(c.DataDir, ownerFile), []byte(id.Name+"\n"))
}

// leftover is where files without a WAL are put aside, and how many times that can
// happen: each time a WAL was lost.
const (
	leftover     = "member.without-wal"
	mostLeftover = 100
)

// clear makes room for a start on an empty disk. A database without its WAL would
// be taken for the state that the cluster's log continues, and a member with other
// data than the rest is the result: it is put aside, and never deleted here. What an
// etcd has left that ended before it wrote its WAL is harmless, and stays.
func (c *Config) clear(ctx context.Context, w Witnesses) error {
	member := filepath.Join(c.DataDir, "member")
	if _, err := os.Lstat(member); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	snapshots, err := filepath.Glob(filepath.Join(member, "snap", "*.snap"))
	if err != nil {
		return fmt.Errorf("look for files without a WAL: %w", err)
	}
	if len(snapshots) == 0 && w.Applied(ctx, c.DataDir).Answer == rejoin.No {
		return nil
	}
	for i := range mostLeftover {
		aside := filepath.Join(c.DataDir, fmt.Sprintf("%s.%d", leftover, i))
		if _, err := os.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(member, aside); err != nil {
			return fmt.Errorf("put files without a WAL aside: %w", err)
		}
		return nil
	}
	return fmt.Errorf("put %s aside: %s.0 to .%d are there already: look at them and remove them", member, leftover, mostLeftover-1)
}
