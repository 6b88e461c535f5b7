package rejoin

import (
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/raft/v3/raftpb"
)

const (
	firstSegment = "0000000000000000-0000000000000000.wal"
	other        = ID(0xb)
)

//
func TestReadLog(t *testing.T) {
	for _, c := range []struct {
		name   string
		write  func(l *logWriter)
		answer Answer
		why    string
	}{
		{"nothing", func(l *logWriter) { l.save(2, put(10), put(10)) }, No, "no removal from " + firstSegment + " to entry 2"},
		{"removed", func(l *logWriter) { l.save(3, put(10), add(me), remove(me)) }, Yes, "entry 3, committed up to 3"},
		{"removed, the commit after it", func(l *logWriter) { l.save(1, put(10), remove(me)); l.save(2) }, Yes, "entry 2, committed up to 2"},
		{"removed by a joint change", func(l *logWriter) { l.save(2, put(10), conf2(raftpb.ConfChangeRemoveNode, me)) }, Yes, "entry 2, committed up to 2"},
		{"leaves a joint change", func(l *logWriter) { l.save(1, &raftpb.Entry{Type: raftpb.EntryConfChangeV2.Enum()}) }, No, "no removal from " + firstSegment + " to entry 1"},
		{"removal not committed", func(l *logWriter) { l.save(1, put(10), remove(me)) }, No, "entry 2 removes it and is not committed, which is up to 1"},
		{"another removed", func(l *logWriter) { l.save(2, put(10), remove(other)) }, No, "no removal from " + firstSegment + " to entry 2"},
		{"added as a learner and promoted", func(l *logWriter) { l.save(2, conf(raftpb.ConfChangeAddLearnerNode, me), add(me)) }, No, "entry 1 has added it, committed up to 2"},
		{"updated after the removal", func(l *logWriter) { l.save(2, remove(me), conf(raftpb.ConfChangeUpdateNode, me)) }, Yes, "entry 1, committed up to 2"},
		{"removed and added again", func(l *logWriter) { l.save(3, remove(me), put(10), add(me)) }, No, "entry 3 has added it, committed up to 3"},
		{"removed, the second addition not committed", func(l *logWriter) { l.save(2, remove(me), put(10), add(me)) }, Yes, "entry 1, committed up to 2"},
		{"removed twice, the second not committed", func(l *logWriter) { l.save(2, remove(me), put(10), remove(me)) }, Yes, "entry 1, committed up to 2"},
		{"removal replaced by a new leader", func(l *logWriter) {
			l.save(1, put(10), remove(me), put(10))
			l.index = 1
			l.save(2, put(20))
			l.save(3, put(20))
		}, No, "no removal from " + firstSegment + " to entry 3"},
		{"removal replaced and then repeated", func(l *logWriter) {
			l.save(1, put(10), remove(me))
			l.index = 1
			l.save(3, put(20), remove(me))
		}, Yes, "entry 3, committed up to 3"},
		{"a snapshot jumps ahead", func(l *logWriter) {
			l.save(1, put(10))
			must(l.t, l.wal.SaveSnapshot(snapshot(100)))
			l.index = 100
			l.save(101, remove(me))
		}, Yes, "entry 101, committed up to 101"},
		{"a tail that begins with a snapshot from before it", func(l *logWriter) {
			l.cut()
			must(l.t, l.wal.SaveSnapshot(snapshot(l.index-3)))
			l.cut()
			l.save(l.index+1, remove(me))
		}, Yes, "entry 21, committed up to 21"},
		{"removed in the last but one segment", func(l *logWriter) {
			l.fill(10, 900)
			l.save(11, remove(me))
			l.save(13, put(7000), put(7000))
		}, Yes, "entry 11, committed up to 13"},
		{"removed before the last two segments", func(l *logWriter) { l.save(1, remove(me)); l.fill(40, 900) }, No, "no removal from 0000000000000003-0000000000000020.wal to entry 41"},
		{"a value that looks like a removal", func(l *logWriter) { l.save(1, &raftpb.Entry{Data: remove(me).GetData()}) }, No, "no removal from " + firstSegment + " to entry 1"},
		{"a change that is none", func(l *logWriter) {
			l.save(1, &raftpb.Entry{Type: raftpb.EntryConfChange.Enum(), Data: []byte{0xff}})
		}, Unreadable, "DIR/" + firstSegment + " at offset 64: read the membership change of entry 1: it is no message of its type"},
		{"a gap", func(l *logWriter) { l.save(1, put(10)); l.index = 5; l.save(1, put(10)) }, Unreadable, "DIR/" + firstSegment + " at offset 128: entry 6 follows entry 1"},
		{"committed beyond its end", func(l *logWriter) { l.save(5, put(10)) }, Unreadable, "DIR/" + firstSegment + ": the log ends at entry 1 and entry 5 was committed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := newLog(t, dir)
			c.write(l)
			l.close()
			testimony(t, l, dir, c.answer, c.why)
		})
	}
}

func testimony(t *testing.T, l *logWriter, dir string, answer Answer, why string) {
	t.Helper()
	want := Witness{Answer: answer, Why: strings.ReplaceAll(why, "DIR", l.dir)}
	before := listFiles(t, dir)
	if got := ReadLog(t.Context(), dir, me); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if after := listFiles(t, dir); before != after {
		t.Errorf("the directory was changed:\n%s\n%s", before, after)
	}
}

// A log whose last records are an entry, the removal, a hard state, and the one that
// commits it, damaged.
func TestReadDamagedLog(t *testing.T) {
	damage := func(change func(b []byte, entry, removal, state int) []byte) func(*logWriter) {
		return func(l *logWriter) {
			edit(l.t, l.last(), func(b []byte) []byte {
				at := framesOf(b)
				n := len(at)
				return change(b, at[n-4], at[n-3], at[n-1])
			})
		}
	}
	for _, c := range []struct {
		name   string
		damage func(l *logWriter)
		answer Answer
		why    string
	}{
		{"none", func(*logWriter) {}, Yes, "entry 21, committed up to 21"},
		{"cut within the last record", damage(func(b []byte, _, _, state int) []byte { return b[:state+12] }), No, "entry 21 removes it and is not committed, which is up to 19"},
		{"cut within the last frame", damage(func(b []byte, _, _, state int) []byte { return b[:state+3] }), No, "entry 21 removes it and is not committed, which is up to 19"},
		{"cut at a record", damage(func(b []byte, _, removal, _ int) []byte { return b[:removal] }), No, "no removal from 0000000000000001-000000000000000a.wal to entry 20"},
		{"zero from a record on", damage(func(b []byte, _, removal, _ int) []byte { clear(b[removal:]); return b }), No, "no removal from 0000000000000001-000000000000000a.wal to entry 20"},
		{"a sector of the last record never written", damage(func(b []byte, entry, _, _ int) []byte { clear(b[(entry/512+1)*512:]); return b }), No, "no removal from 0000000000000001-000000000000000a.wal to entry 19"},
		{"a zeroed record before others", damage(func(b []byte, entry, removal, _ int) []byte { clear(b[entry:removal]); return b }), Unreadable, "LAST at offset 1120: data after a blank"},
		{"a zeroed sector before others", damage(func(b []byte, entry, removal, _ int) []byte {
			clear(b[entry+512-entry%512 : entry+1024-entry%512])
			return b
		}), Unreadable, "LAST at offset 2152: data after a broken record"},
		{"a flip in an entry", damage(func(b []byte, entry, _, _ int) []byte { b[entry+100] ^= 4; return b }), Unreadable, "LAST at offset 1120: the checksum is wrong"},
		{"a flip in the last record", damage(func(b []byte, _, _, state int) []byte { b[state+18] ^= 4; return b }), Unreadable, "LAST at offset 2208: the checksum is wrong"},
		{"a length that swallows the rest", damage(func(b []byte, entry, _, _ int) []byte {
			binary.LittleEndian.PutUint64(b[entry:], uint64(len(b)-entry-1024))
			return b
		}), Unreadable, "LAST at offset 1120: a record with a broken length"},
		{"a length beyond the end", damage(func(b []byte, entry, _, _ int) []byte { b[entry+2] ^= 1; return b }), Unreadable, "LAST at offset 1120: a record with a broken length"},
		{"a length beyond the end and a flip in what it has", damage(func(b []byte, entry, _, _ int) []byte { b[entry+2] ^= 1; b[entry+100] ^= 4; return b }), Unreadable, "LAST at offset 1120: a record with a broken length"},
		{"a length beyond the end for the last record", damage(func(b []byte, _, _, state int) []byte { b[state+2] ^= 1; return b }), Unreadable, "LAST at offset 2208: a record with a broken length"},
		{"a hostile length", damage(func(b []byte, _, _, state int) []byte { b[state+5] = 1; return b }), Unreadable, "LAST at offset 2208: a record claims 1099511627792 bytes"},
		{"the newest segment blank", func(l *logWriter) { must(l.t, os.WriteFile(l.last(), make([]byte, segmentBytes), 0o600)) }, Unreadable, "LAST: it does not begin with etcd's IDs: it is blank"},
		{"a flip in the segment before", func(l *logWriter) {
			edit(l.t, l.segments()[1], func(b []byte) []byte { b[500] ^= 1; return b })
		}, Unreadable, "DIR/0000000000000001-000000000000000a.wal at offset 64: the checksum is wrong"},
		{"the segment before cut at a record", func(l *logWriter) {
			edit(l.t, l.segments()[1], func(b []byte) []byte { at := framesOf(b); return b[:at[len(at)-2]] })
		}, Unreadable, "LAST does not continue the segment before it"},
		{"the segment before lost", func(l *logWriter) { must(l.t, os.Remove(l.segments()[1])) }, Unreadable, "a segment is missing between DIR/" + firstSegment + " and 0000000000000002-0000000000000013.wal"},
		{"everything lost", func(l *logWriter) { must(l.t, os.RemoveAll(l.dir)) }, Unreadable, "DIR has no segment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			l := newLog(t, dir)
			l.fill(19, 1000)
			l.save(19, put(1000), remove(me))
			l.save(21)
			l.close()
			last := l.last()
			c.damage(l)
			testimony(t, l, dir, c.answer, strings.ReplaceAll(c.why, "LAST", last))
		})
	}
}

// framesOf is the offset of each record.
func framesOf(b []byte) (at []int) {
	for off := 0; off+frameBytes <= len(b); {
		length, padding := frameOf(b[off:])
		if length == 0 {
			break
		}
		at = append(at, off)
		off += frameBytes + int(length+padding)
	}
	return at
}

func TestReadLogOfAnother(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir)
	l.close()
	want := Witness{Answer: Unreadable, Why: filepath.Join(l.dir, firstSegment) + " is of member a, not b"}
	if got := ReadLog(t.Context(), dir, other); got != want {
		t.Errorf("got %q", got)
	}
}

func TestReadLogEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir)
	l.fill(3, 100)
	l.close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	want := Witness{Answer: Unreadable, Why: filepath.Join(l.dir, firstSegment) + " at offset 40: context canceled"}
	if got := ReadLog(ctx, dir, me); got != want {
		t.Errorf("got %q", got)
	}
}
