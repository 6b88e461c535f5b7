package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// errVolume is a kind of volume that is not supported.
var errVolume = errors.New("this kind of volume is not supported")

// folder is where a volume is on this machine.
func (w *worker) folder(v corev1.Volume) (string, error) {
	if v.PersistentVolumeClaim == nil {
		return filepath.Join(w.dir, "volumes", v.Name), nil
	}
	claim, err := w.k.world().claims.PersistentVolumeClaims(w.pod.Namespace).Get(v.PersistentVolumeClaim.ClaimName)
	if err != nil || claim.Spec.VolumeName == "" {
		return "", fmt.Errorf("claim %q: %w", v.PersistentVolumeClaim.ClaimName, errNoSource)
	}
	return w.k.disk(claim.Spec.VolumeName), nil
}

// locate finds all folders, and so what the pod's paths are here.
func (w *worker) locate() error {
	folders := map[string]string{}
	for _, v := range w.pod.Spec.Volumes {
		folder, err := w.folder(v)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("make a folder for volume %s: %w", v.Name, err)
		}
		folders[v.Name] = folder
	}
	var all paths
	for _, c := range everyContainer(w.pod) {
		for _, m := range c.VolumeMounts {
			all = append(all, path{filepath.Clean(m.MountPath), filepath.Join(folders[m.Name], m.SubPath)})
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders, w.paths = folders, all.sorted()
	return nil
}

func everyContainer(pod *corev1.Pod) []corev1.Container {
	return append(append([]corev1.Container(nil), pod.Spec.InitContainers...), pod.Spec.Containers...)
}

// mount fills the volumes; it is repeated as long as the pod lives.
func (w *worker) mount(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	for _, v := range w.pod.Spec.Volumes {
		content, made, err := w.content(ctx, v)
		if err == nil && made {
			err = publish(w.folders[v.Name], content)
		}
		if err == nil && !made && v.EmptyDir == nil && v.PersistentVolumeClaim == nil {
			err = errVolume
		}
		if err != nil {
			return fmt.Errorf("volume %q: %w", v.Name, err)
		}
	}
	return nil
}

// Names as a kubelet has them.
const (
	currentLink = "..data"
	freshLink   = "..data_tmp"
	turnPrefix  = "..turn-"
)

// publish makes all files of a volume new at once: they stand in a folder of their
// own, and a link that is renamed leads there.
func publish(folder string, content files) error {
	if same(folder, content) {
		return nil
	}
	old, _ := os.Readlink(filepath.Join(folder, currentLink))    // none at first
	turn, _ := strconv.Atoi(strings.TrimPrefix(old, turnPrefix)) // 0 at first
	next := turnPrefix + strconv.Itoa(turn+1)
	for name, data := range content {
		file := filepath.Join(folder, next, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, data, 0o600)); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	fresh := filepath.Join(folder, freshLink)
	err := errors.Join(os.MkdirAll(filepath.Join(folder, next), 0o755), os.Symlink(next, fresh), os.Rename(fresh, filepath.Join(folder, currentLink)))
	if err != nil {
		return fmt.Errorf("put the files in place: %w", err)
	}
	if old != "" {
		err = os.RemoveAll(filepath.Join(folder, old))
	}
	return errors.Join(err, link(folder, content))
}

// link makes the names by which containers know the files.
func link(folder string, content files) error {
	tops := map[string]bool{currentLink: true}
	for name := range content {
		top, _, _ := strings.Cut(name, "/")
		tops[top] = true
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("list a volume: %w", err)
	}
	for _, e := range entries {
		if e.Type()&os.ModeSymlink != 0 && !tops[e.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(folder, e.Name())))
		}
		delete(tops, e.Name())
	}
	delete(tops, currentLink)
	for top := range tops {
		err = errors.Join(err, os.Symlink(filepath.Join(currentLink, top), filepath.Join(folder, top)))
	}
	return err
}

// same tells whether the volume has exactly these files.
func same(folder string, content files) bool {
	current := filepath.Join(folder, currentLink)
	entries, err := os.ReadDir(current)
	if err != nil {
		return false
	}
	names := map[string]bool{}
	for name, data := range content {
		have, err := os.ReadFile(filepath.Join(current, name))
		if err != nil || !bytes.Equal(have, data) {
			return false
		}
		top, _, _ := strings.Cut(name, "/")
		names[top] = true
	}
	return len(entries) == len(names)
}
