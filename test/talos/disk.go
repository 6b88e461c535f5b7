package talos

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/siderolabs/talos/pkg/machinery/constants"
)

// disk is a node's system disk: a folder for each partition.
type disk struct{ dir string }

// partitions are the labels that a Reset may name.
var partitions = []string{constants.EphemeralPartitionLabel, constants.StatePartitionLabel, constants.MetaPartitionLabel}

// install makes a disk as the installer leaves it, with a machine configuration.
func (d disk) install() error {
	if err := d.mount(); err != nil {
		return err
	}
	if err := os.WriteFile(d.config(), []byte("version: v1alpha1\n"), 0o600); err != nil {
		return fmt.Errorf("install a node: %w", err)
	}
	return nil
}

// mount makes what a boot finds or makes anew.
func (d disk) mount() error {
	for _, label := range append([]string{filepath.Join(constants.EphemeralPartitionLabel, "lib", "etcd")}, partitions...) {
		if err := os.MkdirAll(filepath.Join(d.dir, label), 0o700); err != nil {
			return fmt.Errorf("mount %s: %w", label, err)
		}
	}
	return nil
}

// configured tells whether STATE has a machine configuration: without one the
// machine is nobody's node any more.
func (d disk) configured() bool {
	_, err := os.Stat(d.config())
	return err == nil
}

// wipe empties the partitions.
func (d disk) wipe(labels ...string) error {
	for _, label := range labels {
		if err := os.RemoveAll(filepath.Join(d.dir, label)); err != nil {
			return fmt.Errorf("wipe %s: %w", label, err)
		}
	}
	return nil
}

func (d disk) config() string {
	return filepath.Join(d.dir, constants.StatePartitionLabel, "config.yaml")
}

// etcd is /var/lib/etcd: EPHEMERAL is mounted at /var.
func (d disk) etcd() string {
	return filepath.Join(d.dir, constants.EphemeralPartitionLabel, "lib", "etcd")
}

// etcdEmpty tells whether the data directory has no entry at all, which is all that
// Talos looks at. A directory that is missing is empty.
func (d disk) etcdEmpty() (bool, error) {
	entries, err := os.ReadDir(d.etcd())
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look into the etcd data directory: %w", err)
	}
	return len(entries) == 0, nil
}
