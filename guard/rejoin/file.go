package rejoin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// segmentNames lists the WAL's segments, oldest first, as etcd orders them: by name.
// What etcd itself would not take for a WAL (a half-made wal.tmp, *.tmp) is none.
func segmentNames(dataDir string) ([]string, error) {
	dir := filepath.Join(dataDir, "member", "wal")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, witness.Missing(dataDir, filepath.Join(dataDir, "member"), dir)
	}
	if err != nil {
		return nil, fmt.Errorf("list the WAL: %w", err)
	}
	var paths []string
	strange := ""
	for _, e := range entries {
		switch {
		case !strings.HasSuffix(e.Name(), ".wal"):
		case sequence(e.Name()) < 0:
			strange = filepath.Join(dir, e.Name())
		default:
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	if len(paths) == 0 && strange != "" {
		return nil, fmt.Errorf("%s is not named as a segment", strange)
	}
	slices.Sort(paths)
	return paths, nil
}

// sequence is the segment's number, by its name: <sequence>-<first index>.wal in
// hex. It is negative if that is no such name.
func sequence(name string) int64 {
	number, _, ok := numbers(name)
	if !ok {
		return -1
	}
	return int64(number & (1<<63 - 1))
}

// firstIndex is the index of the entry that the segment was begun for; 0 for the
// first segment, and for what is no segment.
func firstIndex(name string) uint64 {
	_, index, _ := numbers(name)
	return index
}

func numbers(name string) (sequence, index uint64, ok bool) {
	_, err := fmt.Sscanf(filepath.Base(name), "%016x-%016x.wal", &sequence, &index)
	return sequence, index, err == nil
}
