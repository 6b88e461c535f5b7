package restore

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Names in the folder.
const (
	fileIdentity = "identity"
	fileMarker   = "marker.json"
	fileJournal  = "journal.jsonl"
	fileSnapshot = "snapshot.db"
)

// Folder is the job's folder: what a container that was killed goes on from, without
// the API server and without the store. It holds the snapshot in plain; Erase it when
// the restore is over. The keys are kept apart, in memory where the pod gives it.
type Folder struct {
	dir, keys string
	// sync is that of a file, changed in tests.
	sync func(*os.File) error
}

var _ Desk = (*Folder)(nil)

// OpenFolder makes the folders where they are missing, for this user alone.
func OpenFolder(dir, keysDir string) (*Folder, error) {
	for _, d := range []string{dir, keysDir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("open the restore's folder: %w", err)
		}
	}
	return &Folder{dir: dir, keys: keysDir, sync: (*os.File).Sync}, nil
}

// Identity is whose folder it is: made up at its first use, the same ever after.
func (f *Folder) Identity() (string, error) {
	data, err := os.ReadFile(filepath.Join(f.dir, fileIdentity))
	if err == nil && len(data) > 0 {
		return string(data), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the identity of the restore's folder: %w", err)
	}
	id := "restore-" + rand.Text()
	return id, f.replace(f.dir, fileIdentity, []byte(id))
}

// Marker is the marker as it was last saved here; ErrNoMarker before that.
func (f *Folder) Marker() (*Marker, error) {
	data, err := os.ReadFile(filepath.Join(f.dir, fileMarker))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoMarker
	}
	if err != nil {
		return nil, fmt.Errorf("read the marker in the restore's folder: %w", err)
	}
	return Decode(data)
}

// SaveMarker returns once the marker is on disk.
func (f *Folder) SaveMarker(m *Marker) error {
	data, err := m.Encode()
	if err != nil {
		return err
	}
	return f.replace(f.dir, fileMarker, data)
}

// Entry is a line of the journal: what is about to be asked of a node, or how it was
// answered.
type Entry struct {
	At    time.Time `json:"at"`
	Act   string    `json:"act"`
	Node  string    `json:"node,omitempty"`
	Why   string    `json:"why,omitempty"`
	State string    `json:"state"`
	Error string    `json:"error,omitempty"`
}

// States of an entry.
const (
	Asking   = "asking"
	Answered = "answered"
	Refused  = "failed"
)

// Write adds to the journal and returns once it is on disk.
func (f *Folder) Write(e Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	file, err := os.OpenFile(filepath.Join(f.dir, fileJournal), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	_, err = file.Write(append(line, '\n'))
	if err == nil {
		err = f.sync(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the journal: %w", err)
	}
	return nil
}

// Snapshot opens the resealed snapshot; fs.ErrNotExist if it is not here.
func (f *Folder) Snapshot() (io.ReadCloser, error) {
	return os.Open(filepath.Join(f.dir, fileSnapshot))
}

// Stage keeps a resealed snapshot, in place of one that was here, once it was read
// whole.
func (f *Folder) Stage(r io.Reader) error { return f.copy(f.dir, fileSnapshot, r) }

// SnapshotPath is where the resealed snapshot is, for a process that writes it itself.
func (f *Folder) SnapshotPath() string { return filepath.Join(f.dir, fileSnapshot) }

// PutKey keeps a secret, such as the bundle, beside the folder.
func (f *Folder) PutKey(name string, data []byte) error { return f.replace(f.keys, name, data) }

// Key reads a secret; fs.ErrNotExist if it is not here.
func (f *Folder) Key(name string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(f.keys, filepath.Base(name)))
	if err != nil {
		return nil, fmt.Errorf("read a key of the restore: %w", err)
	}
	return data, nil
}

// Erase removes all that is in the folders, the marker last, so that what is left of an
// Erase that was cut is erased by the next one.
func (f *Folder) Erase() error {
	var errs []error
	for _, d := range []string{f.keys, f.dir} {
		errs = append(errs, f.empty(d))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("erase the restore's folder: %w", err)
	}
	return nil
}
