package restored

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/test/s3"
	sim "github.com/quorate/quorate/test/talos"
)

// wipes are the resets that have acted, by node and its boots: one that is repeated in a
// boot wipes once.
type wipes struct {
	t    *testing.T
	mu   sync.Mutex
	of   map[string]map[string]bool
	copy string // the name of the restore's copy in the store, once a node was wiped
}

// comes wants what is needed after a wipe to be in the store before it.
func (w *wipes) comes(n *sim.Node, call string) {
	if call != "Reset" {
		return
	}
	name, err := verifiedCopy()
	if err != nil {
		w.t.Errorf("%s is wiped without a copy in the store: %v", n.Name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.copy = name
}

func (w *wipes) acted(n *sim.Node, call string) {
	if call != "Reset" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of[n.Name] == nil {
		w.of[n.Name] = map[string]bool{}
	}
	w.of[n.Name][n.BootID()] = true
}

// extra are those beyond the first of each node.
func (w *wipes) extra() (sum int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, boots := range w.of {
		sum += len(boots) - 1
	}
	return sum
}

// nodes are how many were wiped.
func (w *wipes) nodes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.of)
}

// verifiedCopy compares the copy in the store with the marker beside it, on the store's
// own disk, and answers its name.
func verifiedCopy() (string, error) {
	m, err := markerInStore()
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(inStore(m.Pinned.Object()))
	if err != nil {
		return "", err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != m.Pinned.Sum {
		err = fmt.Errorf("the copy has the sum %x, and the marker says %s", sum, m.Pinned.Sum)
	}
	return m.Pinned.Object(), err
}

func markerInStore() (*restore.Marker, error) {
	content, err := os.ReadFile(inStore(restore.MarkerName))
	if err != nil {
		return nil, err
	}
	return restore.Decode(content)
}

// inStore is a file of the store.
func inStore(name string) string {
	return filepath.Join(objects.Buckets, s3.Bucket, Cluster, name)
}

// left are what a restore keeps in the store while it is on its way. The copy of a process
// that died before it wrote a marker is the backups' to remove, after a day.
func (w *wipes) left() (out []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range []string{restore.MarkerName, w.copy} {
		if _, err := os.Stat(inStore(name)); err == nil && name != "" {
			out = append(out, name)
		}
	}
	return out
}
