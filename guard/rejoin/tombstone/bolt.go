// Package tombstone reads the tombstones of removed members in an etcd's database,
// in a process of its own: see Serve. That process is started while a member waits
// for its verdict, and what the package imports is what the start costs.
package tombstone

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	"go.etcd.io/bbolt"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// lockTimeout is how long one attempt waits for a bolt file that etcd has locked.
const lockTimeout = time.Second

// Read tells whether the member's own ID is a key of the bucket
// members_removed in <dataDir>/member/snap/db. A bolt file that is not there, or is
// so young that nothing was applied yet, is No.
//
// bbolt maps the file into memory and trusts what it finds there: a damaged one
// can fault, overflow the stack, or never end. Ask through a rejoin.Child.
func Read(ctx context.Context, dataDir string, id witness.ID) witness.Witness {
	return readBolt(ctx, dataDir, func(tx *bbolt.Tx) (witness.Witness, error) { return buried(tx, id) })
}

// Applied tells whether any entry was applied to the bolt file: one that etcd
// has just made has none. The rest is as for Read.
func Applied(ctx context.Context, dataDir string) witness.Witness {
	return readBolt(ctx, dataDir, applied)
}

func readBolt(ctx context.Context, dataDir string, read func(*bbolt.Tx) (witness.Witness, error)) witness.Witness {
	path := filepath.Join(dataDir, "member", "snap", "db")
	w := witness.Witness{Answer: witness.No, Why: "no bolt file"}
	err := witness.Guarded(func() error {
		file, _, err := witness.OpenRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			return witness.Missing(dataDir, filepath.Join(dataDir, "member"), filepath.Dir(path), path)
		}
		if err != nil {
			return fmt.Errorf("open the bolt file: %w", err)
		}
		defer func() { _ = file.Close() }()
		w, err = view(ctx, path, file, read)
		return err
	})
	if err != nil {
		return witness.Witness{Answer: witness.Unreadable, Why: err.Error()}
	}
	return w
}

func view(ctx context.Context, path string, file *os.File, read func(*bbolt.Tx) (witness.Witness, error)) (w witness.Witness, err error) {
	// A fault in the mapped file becomes a panic, which is caught.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	timeout := lockTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(deadline), time.Millisecond))
	}
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: timeout, OpenFile: readOnly})
	if err != nil {
		return witness.Witness{}, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = db.Close() }()
	if err := metas(file, int64(db.Info().PageSize)); err != nil {
		return witness.Witness{}, fmt.Errorf("%s: %w", path, err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		w, err = read(tx)
		return err
	})
	if err != nil {
		return witness.Witness{}, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// readOnly ignores what bbolt asks for.
func readOnly(path string, _ int, _ os.FileMode) (*os.File, error) {
	file, info, err := witness.OpenRegular(path)
	if err == nil && info.Size() == 0 { // bbolt would make it a database
		_ = file.Close()
		return nil, errors.New("the bolt file is empty")
	}
	return file, err
}

// buried looks for the tombstone. bbolt's pages have no checksum, so all that is in
// the bucket must look as etcd writes it.
func buried(tx *bbolt.Tx, id witness.ID) (witness.Witness, error) {
	bucket := tx.Bucket([]byte("members_removed"))
	if bucket == nil {
		return young(tx)
	}
	found, count := false, 0
	err := bucket.ForEach(func(key, value []byte) error {
		if len(key) > 16 || string(value) != "removed" {
			return errors.New("bucket members_removed has what is no tombstone")
		}
		other, err := strconv.ParseUint(string(key), 16, 64)
		if err != nil || witness.ID(other).String() != string(key) {
			return fmt.Errorf("bucket members_removed has the key %q", key)
		}
		found = found || witness.ID(other) == id
		count++
		return nil
	})
	switch {
	case err != nil:
		return witness.Witness{}, err
	case found:
		return witness.Witness{Answer: witness.Yes, Why: fmt.Sprintf("among %d in members_removed", count)}, nil
	}
	return witness.Witness{Answer: witness.No, Why: fmt.Sprintf("not among %d in members_removed", count)}, nil
}

// young answers for a file without the bucket. etcd creates it soon after the WAL,
// in a later transaction than the bucket meta, and applies entries only then: as
// long as none was applied, none can have removed the member.
func young(tx *bbolt.Tx) (witness.Witness, error) {
	if w, _ := applied(tx); w.Answer == witness.Yes {
		return witness.Witness{}, errors.New("there is no bucket members_removed")
	}
	return witness.Witness{Answer: witness.No, Why: "nothing was applied to the bolt file yet"}, nil
}

func applied(tx *bbolt.Tx) (witness.Witness, error) {
	key, _ := tx.Cursor().First()
	fresh := key == nil && tx.ID() <= 1
	if meta := tx.Bucket([]byte("meta")); meta != nil {
		index := meta.Get([]byte("consistent_index"))
		fresh = index == nil || len(index) == 8 && binary.BigEndian.Uint64(index) == 0
	}
	if fresh {
		return witness.Witness{Answer: witness.No, Why: "nothing was applied to the bolt file yet"}, nil
	}
	return witness.Witness{Answer: witness.Yes, Why: "entries were applied to the bolt file"}, nil
}
