package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// disk is the folder of a PersistentVolume. It is not where the provisioner of
// kube-controller-manager made one, so that all data is below Options.Dir.
func (k *Kubelets) disk(volume string) string { return filepath.Join(k.options.Dir, "disks", volume) }

// DiskPath is the folder behind a claim.
func (k *Kubelets) DiskPath(namespace, claim string) (string, error) {
	found, err := k.world().claims.PersistentVolumeClaims(namespace).Get(claim)
	if err != nil || found.Spec.VolumeName == "" {
		return "", fmt.Errorf("%s/%s: %w", namespace, claim, ErrNoDisk)
	}
	return k.disk(found.Spec.VolumeName), nil
}

// LoseDisk erases what is on a claim's disk, as if it had been swapped for an empty
// one. While something of a pod with that claim runs it is an error: ErrDiskInUse.
func (k *Kubelets) LoseDisk(namespace, claim string) error {
	disk, err := k.DiskPath(namespace, claim)
	if err != nil {
		return err
	}
	if k.inUse(disk) {
		return fmt.Errorf("%s/%s: %w", namespace, claim, ErrDiskInUse)
	}
	if err := os.RemoveAll(disk); err != nil {
		return fmt.Errorf("erase the disk of %s/%s: %w", namespace, claim, err)
	}
	return os.MkdirAll(disk, 0o700)
}

// inUse tells whether a process may have the disk open.
func (k *Kubelets) inUse(disk string) bool {
	for _, w := range k.all() {
		if w.over() || !w.mounts(disk) {
			continue
		}
		for _, c := range w.containers() {
			if c.running() != nil {
				return true
			}
		}
	}
	return false
}

func (w *worker) mounts(disk string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, folder := range w.folders {
		if folder == disk {
			return true
		}
	}
	return false
}

// sweep erases the disks of volumes that are gone, never before the pods that used
// them are.
func (k *Kubelets) sweep(ctx context.Context) {
	known := map[string]bool{}
	k.bell.until(ctx, func() bool {
		for _, v := range list(k.world().volumes.List) {
			known[v.Name] = true
		}
		for name := range known {
			if _, err := k.world().volumes.Get(name); err != nil && !k.claimed(k.disk(name)) {
				k.complain(os.RemoveAll(k.disk(name)))
				delete(known, name)
			}
		}
		return false
	})
}

// claimed tells whether a pod that has not ended was started with the disk.
func (k *Kubelets) claimed(disk string) bool {
	for _, w := range k.all() {
		if !w.over() && w.mounts(disk) {
			return true
		}
	}
	return false
}
