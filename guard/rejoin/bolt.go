package rejoin

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
)

// lockTimeout is how long one attempt waits for a bolt file that etcd has locked.
const lockTimeout = time.Second

// ReadTombstone tells whether the member's own ID is a key of the bucket
// members_removed in <dataDir>/member/snap/db. A bolt file that is not there, or is
// so young that nothing was applied yet, is No.
//
// bbolt maps the file into memory and trusts what it finds there: a damaged one
// can fault, overflow the stack, or never end. Ask through a Child.
func ReadTombstone(ctx context.Context, dataDir string, id ID) Witness {
	return readBolt(ctx, dataDir, func(tx *bbolt.Tx) (Witness, error) { return buried(tx, id) })
}

// ReadApplied tells whether any entry was applied to the bolt file: one that etcd
// has just made has none. The rest is as for ReadTombstone.
func ReadApplied(ctx context.Context, dataDir string) Witness { return readBolt(ctx, dataDir, applied) }

func readBolt(ctx context.Context, dataDir string, read func(*bbolt.Tx) (Witness, error)) Witness {
	path := filepath.Join(dataDir, "member", "snap", "db")
	w := Witness{Answer: No, Why: "no bolt file"}
	err := guarded(func() error {
		file, _, err := openRegular(path)
		if errors.Is(err, fs.ErrNotExist) {
			return missing(dataDir, filepath.Join(dataDir, "member"), filepath.Dir(path), path)
		}
		if err != nil {
			return fmt.Errorf("open the bolt file: %w", err)
		}
		defer func() { _ = file.Close() }()
		w, err = view(ctx, path, file, read)
		return err
	})
	if err != nil {
		return Witness{Answer: Unreadable, Why: err.Error()}
	}
	return w
}

func view(ctx context.Context, path string, file *os.File, read func(*bbolt.Tx) (Witness, error)) (w Witness, err error) {
	// A fault in the mapped file becomes a panic, which is caught.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	timeout := lockTimeout
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(deadline), time.Millisecond))
	}
	db, err := bbolt.Open(path, 0, &bbolt.Options{ReadOnly: true, Timeout: timeout, OpenFile: readOnly})
	if err != nil {
		return Witness{}, fmt.Errorf("open %s: %w", path, err)
	}
	defer func() { _ = db.Close() }()
	if err := metas(file, int64(db.Info().PageSize)); err != nil {
		return Witness{}, fmt.Errorf("%s: %w", path, err)
	}
	err = db.View(func(tx *bbolt.Tx) error {
		w, err = read(tx)
		return err
	})
	if err != nil {
		return Witness{}, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

// readOnly ignores what bbolt asks for.
func readOnly(path string, _ int, _ os.FileMode) (*os.File, error) {
	file, info, err := openRegular(path)
	if err == nil && info.Size() == 0 { // bbolt would make it a database
		_ = file.Close()
		return nil, errors.New("the bolt file is empty")
	}
	return file, err
}

// buried looks for the tombstone. bbolt's pages have no checksum, so all that is in
// the bucket must look as etcd writes it.
func buried(tx *bbolt.Tx, id ID) (Witness, error) {
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
		if err != nil || ID(other).String() != string(key) {
			return fmt.Errorf("bucket members_removed has the key %q", key)
		}
		found = found || ID(other) == id
		count++
		return nil
	})
	switch {
	case err != nil:
		return Witness{}, err
	case found:
		return Witness{Answer: Yes, Why: fmt.Sprintf("among %d in members_removed", count)}, nil
	}
	return Witness{Answer: No, Why: fmt.Sprintf("not among %d in members_removed", count)}, nil
}

// young answers for a file without the bucket. etcd creates it soon after the WAL,
// in a later transaction than the bucket meta, and applies entries only then: as
// long as none was applied, none can have removed the member.
func young(tx *bbolt.Tx) (Witness, error) {
	if w, _ := applied(tx); w.Answer == Yes {
		return Witness{}, errors.New("there is no bucket members_removed")
	}
	return Witness{Answer: No, Why: "nothing was applied to the bolt file yet"}, nil
}

func applied(tx *bbolt.Tx) (Witness, error) {
	key, _ := tx.Cursor().First()
	fresh := key == nil && tx.ID() <= 1
	if meta := tx.Bucket([]byte("meta")); meta != nil {
		index := meta.Get([]byte("consistent_index"))
		fresh = index == nil || len(index) == 8 && binary.BigEndian.Uint64(index) == 0
	}
	if fresh {
		return Witness{Answer: No, Why: "nothing was applied to the bolt file yet"}, nil
	}
	return Witness{Answer: Yes, Why: "entries were applied to the bolt file"}, nil
}
