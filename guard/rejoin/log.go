package rejoin

import (
	"context"
	"fmt"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// tailSegments is how much of the WAL is read: a removed member stops within one
// election timeout of its removal, so that is near the log's end. A segment is
// 64 MB and holds at least the entry that began it.
const tailSegments = 2

// ReadLog tells whether the WAL's tail has a committed removal of the member: Yes
// with its index, No, or Unreadable. An uncommitted removal is No, and Why has it:
// another leader may have replaced it. A torn last record is the log's end; what
// comes after a broken one, or is missing before another, is Unreadable.
//
// It runs in this process, since nothing is mapped into memory and a record is
// bounded: it takes up to three times the longest record and stops with ctx.
func ReadLog(ctx context.Context, dataDir string, id ID) Witness {
	t := tail{id: id}
	if err := witness.Guarded(func() error { return t.read(ctx, dataDir) }); err != nil {
		return Witness{Answer: Unreadable, Why: err.Error()}
	}
	return t.witness()
}

// tail is what is known of the log's end.
type tail struct {
	id ID
	// last is the index of the last entry or snapshot, 0 before any; commit is the
	// last hard state's.
	last, commit uint64
	// changes are those of the member, by rising index. Two of a kind in a row are
	// kept as the first, which is committed no later.
	changes []change
	from    string
	crc     uint32
}

type change struct {
	index   uint64
	removed bool
}

func (t *tail) read(ctx context.Context, dataDir string) error {
	paths, err := segmentNames(dataDir)
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s has no segment", filepath.Join(dataDir, "member", "wal"))
	}
	paths = paths[max(0, len(paths)-tailSegments):]
	t.from = filepath.Base(paths[0])
	// A segment may begin with the record of a snapshot from some entries ago.
	t.last = max(firstIndex(paths[0]), 1) - 1
	for i, path := range paths {
		if i > 0 && sequence(path) != sequence(paths[i-1])+1 {
			return fmt.Errorf("a segment is missing between %s and %s", paths[i-1], filepath.Base(path))
		}
		if err := t.segment(ctx, path, i > 0, i == len(paths)-1); err != nil {
			return err
		}
	}
	if t.last != 0 && t.commit > t.last {
		return fmt.Errorf("%s: the log ends at entry %d and entry %d was committed", paths[len(paths)-1], t.last, t.commit)
	}
	return nil
}

func (t *tail) segment(ctx context.Context, path string, chained, last bool) error {
	s, err := openSegment(path, longestRecord)
	if err != nil {
		return err
	}
	defer s.close()
	h, err := s.header()
	switch {
	case err != nil:
		return err
	case h.memberID != t.id:
		return fmt.Errorf("%s is of member %s, not %s", path, h.memberID, t.id)
	case chained && h.crc != t.crc:
		return fmt.Errorf("%s does not continue the segment before it", path)
	}
	if err := t.records(ctx, s, last); err != nil {
		return err
	}
	t.crc = s.crc
	return nil
}

func (t *tail) records(ctx context.Context, s *segment, last bool) error {
	var rec walpb.Record
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return fmt.Errorf("%s at offset %d: %w", s.file.Name(), s.decoder.LastOffset(), context.Cause(ctx))
		}
		at := s.decoder.LastOffset()
		if err := s.next(&rec); err != nil {
			return s.end(err, last)
		}
		if err := t.take(&rec); err != nil {
			return fmt.Errorf("%s at offset %d: %w", s.file.Name(), at, err)
		}
	}
}

func (t *tail) take(rec *walpb.Record) error {
	switch rec.GetType() {
	case wal.EntryType:
		var e raftpb.Entry
		if err := proto.Unmarshal(rec.GetData(), &e); err != nil {
			return fmt.Errorf("read an entry: %w", errGarbled)
		}
		return t.entry(&e)
	case wal.StateType:
		var state raftpb.HardState
		if err := proto.Unmarshal(rec.GetData(), &state); err != nil {
			return fmt.Errorf("read a hard state: %w", errGarbled)
		}
		t.commit = state.GetCommit()
	case wal.SnapshotType:
		var snapshot walpb.Snapshot
		if err := proto.Unmarshal(rec.GetData(), &snapshot); err != nil {
			return fmt.Errorf("read a snapshot record: %w", errGarbled)
		}
		t.last = max(t.last, snapshot.GetIndex())
	case wal.CrcType:
	default:
		return fmt.Errorf("a record of type %d", rec.GetType())
	}
	return nil
}

// entry takes an entry. One at an index that was there before replaces all from
// that index on, as a new leader does with what was not committed.
func (t *tail) entry(e *raftpb.Entry) error {
	index := e.GetIndex()
	if t.last != 0 && index > t.last+1 {
		return fmt.Errorf("entry %d follows entry %d", index, t.last)
	}
	for len(t.changes) > 0 && t.changes[len(t.changes)-1].index >= index {
		t.changes = t.changes[:len(t.changes)-1]
	}
	t.last = index
	removed, known, err := changeOf(e, t.id)
	if err != nil {
		return fmt.Errorf("read the membership change of entry %d: %w", index, errGarbled)
	}
	if n := len(t.changes); known && (n == 0 || t.changes[n-1].removed != removed) {
		t.changes = append(t.changes, change{index, removed})
	}
	return nil
}

// witness is by the last change that is committed.
func (t *tail) witness() Witness {
	for i := len(t.changes) - 1; i >= 0; i-- {
		c := t.changes[i]
		switch {
		case c.removed && c.index <= t.commit:
			return Witness{Answer: Yes, Why: fmt.Sprintf("entry %d, committed up to %d", c.index, t.commit)}
		case c.removed:
			return Witness{Answer: No, Why: fmt.Sprintf("entry %d removes it and is not committed, which is up to %d", c.index, t.commit)}
		case c.index <= t.commit:
			return Witness{Answer: No, Why: fmt.Sprintf("entry %d has added it, committed up to %d", c.index, t.commit)}
		}
	}
	return Witness{Answer: No, Why: fmt.Sprintf("no removal from %s to entry %d", t.from, t.last)}
}
