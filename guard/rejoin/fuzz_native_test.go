package rejoin

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzReaders has any two files for a segment and a bolt file: the readers answer
// with a reason, and so does the verdict. -fuzzminimizetime=1x keeps it from spending
// its time on making long inputs short.
func FuzzReaders(f *testing.F) {
	for _, d := range fuzzedDisks() {
		files := d.make(f, f.TempDir())
		sound := contents(f, files)
		f.Add(sound[len(sound)-2], sound[len(sound)-1])
	}
	s := newSession(f)
	f.Fuzz(func(t *testing.T, segment, bolt []byte) {
		dir := t.TempDir()
		must(t, os.MkdirAll(filepath.Join(dir, "member", "wal"), 0o700))
		must(t, os.MkdirAll(filepath.Join(dir, "member", "snap"), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, "member", "wal", firstSegment), segment, 0o600))
		must(t, os.WriteFile(filepath.Join(dir, "member", "snap", "db"), bolt, 0o600))
		s.t = t
		for _, w := range []Witness{ReadLog(t.Context(), dir, me), s.tombstone(dir, me)} {
			if w.Answer == NotAsked || w.Why == "" {
				t.Errorf("no answer: %q", w)
			}
		}
		if d := ReadDisk(dir); d.State == NoWAL || d.State == UnreadableWAL && d.Why == "" {
			t.Errorf("the disk is %+v", d)
		}
		if v := verdictOn(t, s, dir, silent); v.Reason == "" || v.Action != Refuse && v.Action != Start {
			t.Errorf("the verdict is %+v", v)
		}
	})
}
