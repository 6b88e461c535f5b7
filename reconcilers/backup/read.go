package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// prefix begins the names of all that is of a snapshot.
const prefix = "etcd-"

func isNewer(err error) bool { return errors.Is(err, snapshot.ErrNewerMeta) }

// metas remembers what was read beside snapshots, so that a list costs no request for
// each.
type metas struct {
	mu   sync.Mutex
	read map[types.UID]map[string]beside
}

// take gives what is remembered of a backup. keep replaces it.
func (m *metas) take(of types.UID) map[string]beside {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.read[of]
}

func (m *metas) keep(of types.UID, read map[string]beside) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.read == nil {
		m.read = map[types.UID]map[string]beside{}
	}
	m.read[of] = read
}

// Read is the catalog of a cluster's snapshots in a store; id is the Talos cluster's, of
// the secrets bundle: those of a lost cluster of the same name are foreign.
func Read(ctx context.Context, s store.Store, namespace, cluster, id string) (Catalog, error) {
	c, _, err := read(ctx, s, owner{namespace, cluster, id}, nil)
	return c, err
}

// read asks for those metas alone that are not known by their versions. It gives all by
// the snapshots' names.
func read(ctx context.Context, s store.Store, of owner, known map[string]beside) (Catalog, map[string]beside, error) {
	var snapshots, copies []store.Info
	found := map[string]beside{}
	objects := map[string]store.Info{}
	for info, err := range s.List(ctx, prefix) {
		if err != nil {
			return Catalog{}, nil, err
		}
		objects[info.Name] = info
		if _, ok := snapshot.ParseName(info.Name); ok {
			snapshots = append(snapshots, info)
		}
		if restore.IsPinned(info.Name) && info.Name != restore.PinnedName { // that one is of older versions
			copies = append(copies, info)
		}
	}
	for name, info := range objects {
		whose, ok := snapshotOf(name)
		if !ok {
			continue
		}
		b, err := readBeside(ctx, s, info, known[whose])
		if errors.Is(err, store.ErrNotFound) {
			continue // deleted in between
		}
		if err != nil {
			return Catalog{}, nil, err
		}
		found[whose] = b
	}
	kept := make(map[string]beside, len(found))
	for name, b := range found {
		kept[name] = b
	}
	c := arrange(of, snapshots, found)
	c.Copies = copies
	return c, kept, nil
}

func readBeside(ctx context.Context, s store.Store, info store.Info, known beside) (beside, error) {
	if known.object.Version == info.Version && info.Version != "" {
		return known, nil
	}
	data, _, err := store.ReadSmall(ctx, s, info.Name)
	if err != nil {
		return beside{}, fmt.Errorf("read what is beside a snapshot: %w", err)
	}
	meta, err := snapshot.DecodeMeta(data)
	return beside{info, meta, err}, nil
}

// snapshotOf is the snapshot that an object lies beside; false if it lies beside none.
func snapshotOf(name string) (string, bool) {
	text, ok := strings.CutSuffix(name, ".snapshot.json")
	of := text + ".snapshot.age"
	_, named := snapshot.ParseName(of)
	return of, ok && named
}
