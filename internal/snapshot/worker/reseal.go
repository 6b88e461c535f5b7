package worker

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	etcdsnapshot "go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/quorate/quorate/internal/snapshot"
)

// What the restored member is called. Whoever recovers from the result restores it once
// more, and that names the members anew.
const (
	memberName = "resealed"
	memberURL  = "http://localhost:2380"
)

// reseal restores into the scratch folder, with a bump of the revision and a mark of a
// compaction, and makes a snapshot of the database that this gives.
func reseal(job snapshot.Job) (snapshot.Resealed, error) {
	before, err := inspect(job.Path, 0, "")
	if err != nil {
		return snapshot.Resealed{}, err
	}
	if job.Bump <= 0 || before.Revision > math.MaxInt64-job.Bump {
		return snapshot.Resealed{}, fmt.Errorf("%w: revision %d cannot be raised by %d", snapshot.ErrWorker, before.Revision, job.Bump)
	}
	if err := roomFor(job.Path, job.Scratch); err != nil {
		return snapshot.Resealed{}, err
	}
	data := filepath.Join(job.Scratch, "data")
	if err := restore(job.Path, data, job.Bump); err != nil {
		return snapshot.Resealed{}, fmt.Errorf("%w: restore it: %w", blamed(err), err)
	}
	made := filepath.Join(data, "member", "snap", "db")
	size, sum, err := seal(made)
	if err != nil {
		return snapshot.Resealed{}, fmt.Errorf("%w: write the sum: %w", snapshot.ErrWorker, err)
	}
	after, err := inspect(made, size, sum)
	if err != nil {
		return snapshot.Resealed{}, err
	}
	if want := before.Revision + job.Bump; after.Revision != want || after.Keys != before.Keys || after.Compacted != want {
		return snapshot.Resealed{}, fmt.Errorf("%w: restored, it has %d keys at revision %d, compacted at %d, and not %d at %d", snapshot.ErrDamaged,
			after.Keys, after.Revision, after.Compacted, before.Keys, want)
	}
	if err := place(made, job.Out); err != nil {
		return snapshot.Resealed{}, fmt.Errorf("%w: put the result in its place: %w", snapshot.ErrWorker, err)
	}
	return snapshot.Resealed{Revision: after.Revision, Before: before.Revision, Keys: after.Keys, Size: size, Sum: sum}, nil
}

func restore(path, data string, bump int64) error {
	return etcdsnapshot.NewV3(logger()).Restore(etcdsnapshot.RestoreConfig{
		SnapshotPath: path, OutputDataDir: data,
		Name: memberName, PeerURLs: []string{memberURL}, InitialCluster: memberName + "=" + memberURL,
		RevisionBump: uint64(bump), MarkCompacted: true,
	})
}

// logger writes what etcd says before it ends the process, which it does by its logger.
func logger() *zap.Logger {
	encoder := zapcore.NewConsoleEncoder(zapcore.EncoderConfig{MessageKey: "message"})
	return zap.New(zapcore.NewCore(encoder, zapcore.Lock(os.Stderr), zap.ErrorLevel))
}

// seal puts the sum behind a database, and has it on disk.
func seal(path string) (size int64, sum string, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	h := sha256.New()
	size, err = io.Copy(h, file)
	if err != nil {
		return 0, "", err
	}
	tail := h.Sum(nil)
	if _, err := file.Write(tail); err != nil {
		return 0, "", err
	}
	h.Write(tail)
	return size + int64(len(tail)), fmt.Sprintf("sha256:%x", h.Sum(nil)), file.Sync()
}

// place moves it, and has the folder on disk.
func place(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
