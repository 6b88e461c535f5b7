package running

import (
	"context"
	"errors"
	"time"

	"github.com/quorate/quorate/internal/restore"
)

// eraseTimeout bounds what is asked before a folder is erased.
const eraseTimeout = 30 * time.Second

// errLastCopy: what is in the folder may be all that is left of the snapshot.
var errLastCopy = errors.New("neither the object store nor etcd shows that the snapshot is anywhere else")

// leave erases the folder of a restore that is not this process's any more: the snapshot
// is there in plain, and so are keys. It stays only while it may be the last copy.
func (j *Jobs) leave(w *World, folder *restore.Folder, r restore.Result) error {
	if r.Outcome != restore.Lost {
		return nil
	}
	ctx, cancel := context.WithTimeout(j.ctx, eraseTimeout)
	defer cancel()
	if !elsewhere(ctx, w, &r.Marker) {
		return errLastCopy
	}
	return folder.Erase()
}

// elsewhere tells whether the store has the snapshot, as it was taken or as it is pinned,
// or etcd is the one that was recovered from it.
func elsewhere(ctx context.Context, w *World, m *restore.Marker) bool {
	for _, name := range []string{m.Snapshot.Name, m.Pinned.Object()} {
		if w.Store == nil || name == "" {
			continue
		}
		if _, err := w.Store.Stat(ctx, name); err == nil {
			return true
		}
	}
	answer, err := restore.Proven(ctx, w.Etcd, m)
	return err == nil && m.Reached(answer)
}
