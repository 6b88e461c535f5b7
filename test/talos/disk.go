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
type disk struct {
	dir       string
	dedicated []string // volumes that are partitions beside those that every disk has
}

// partitions are the labels that every disk has.
var partitions = []string{constants.EphemeralPartitionLabel, constants.StatePartitionLabel, constants.MetaPartitionLabel}

// install makes a disk as the installer leaves it, with a machine configuration.
func (d disk) install() error {
	if err := d.mount(d.partitions()...); err != nil {
		return err
	}
	if err := os.WriteFile(d.config(), []byte("version: v1alpha1\n"), 0o600); err != nil {
		return fmt.Errorf("install a node: %w", err)
	}
	return nil
}

// mount makes what a boot finds or makes anew on these partitions.
func (d disk) mount(labels ...string) error {
	for _, label := range labels {
		folder := filepath.Join(d.dir, label)
		if label == constants.EphemeralPartitionLabel {
			folder = filepath.Join(folder, "lib", "etcd")
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
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

// etcd is /var/lib/etcd: of EPHEMERAL, which is mounted at /var, or a partition of its own.
func (d disk) etcd() string { return d.at(constants.EtcdDataPath) }

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
