package rejoin

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

// damagedFiles is how many disks are damaged and judged in a test run.
const damagedFiles = 12_000

// What a damaged disk may be taken for, when the cluster is silent:
//
//   - Damage to one file while the other tells of the removal: refused, always.
//   - Damage to the WAL while only it tells: refused, or started if a crash could
//     have left what is there: every sector as it was, or zero, or cut off. That is
//     an honest disk as well, since nothing says how long the log once was.
//   - Damage to the bolt file while only it tells: nothing can be promised. Its
//     pages have no checksum: a flipped digit of a key is another key, and a lower
//     count of elements is a smaller page. What is out of shape is refused.
//   - Damage to both: as the WAL's, since it is the one with checksums.
//   - A member that was never removed is never said to be removed by its log. By
//     its tombstone it can be, if a flip makes another's key its own.
//
// Beyond all that: every verdict has a reason, and a listed member starts.
type disks struct {
	name              string
	inBolt, inLog     bool
	others, fillBytes int
}

func fuzzedDisks() []disks {
	return []disks{
		{"removed, both tell", true, true, 3, 300},
		{"removed, both tell, many tombstones", true, true, 600, 300},
		{"removed, only the log tells", false, true, 3, 300},
		{"removed, only the tombstone tells", true, false, 3, 300},
		{"not removed", false, false, 3, 300},
	}
}

// make writes the disk and gives its files: the segments, and the bolt file last.
func (d disks) make(t testing.TB, dir string) []string {
	l := newLog(t, dir)
	l.save(1, add(me))
	l.fill(30+300/(d.fillBytes/100), d.fillBytes)
	if d.inLog {
		l.save(l.index, remove(me))
		l.save(l.index)
	}
	l.close()
	ids := []ID{}
	for i := range d.others {
		ids = append(ids, ID(i)*0x9e3779b97f4a7c15+0x100)
	}
	if d.inBolt {
		ids = append(ids, me)
	}
	return append(l.segments(), newBolt(t, dir, ids...))
}

// damages are the ways to spoil a file, none of which leaves it as it was for sure.
var damages = []struct {
	name string
	do   func(r *rand.Rand, b []byte) []byte
}{
	{"flips", func(r *rand.Rand, b []byte) []byte {
		for range 1 + r.IntN(8) {
			b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"flips at the end", func(r *rand.Rand, b []byte) []byte {
		end := max(len(bytes.TrimRight(b, "\x00")), 1)
		for range 1 + r.IntN(4) {
			b[max(0, end-1-r.IntN(160))] ^= 1 << r.IntN(8)
		}
		return b
	}},
	{"garbage", func(r *rand.Rand, b []byte) []byte {
		from := r.IntN(len(b))
		for i := from; i < min(len(b), from+1+r.IntN(64)); i++ {
			b[i] = byte(r.Uint32())
		}
		return b
	}},
	{"truncation", func(r *rand.Rand, b []byte) []byte { return b[:r.IntN(len(b))] }},
	{"zero page", func(r *rand.Rand, b []byte) []byte {
		size := []int{512, 4096}[r.IntN(2)]
		from := r.IntN((len(b)+size-1)/size) * size
		clear(b[from:min(len(b), from+size)])
		return b
	}},
	{"zero tail", func(r *rand.Rand, b []byte) []byte { clear(b[r.IntN(len(b)):]); return b }},
	{"moved page", func(r *rand.Rand, b []byte) []byte {
		from, to := r.IntN(len(b)/512)*512, r.IntN(len(b)/512)*512
		copy(b[to:], slices.Clone(b[from:min(len(b), from+4096)]))
		return b
	}},
}

//
func TestDamagedDisksNeverStart(t *testing.T) {
	counts, served := map[string]int{}, newSession(t)
	for n, d := range fuzzedDisks() {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		dir := t.TempDir()
		files := d.make(t, dir)
		if v := verdictOn(t, served, dir, silent); (v.Action == Refuse) != (d.inBolt || d.inLog) {
			t.Fatalf("%s, undamaged: %+v", d.name, v)
		}
		sound := contents(t, files)
		for range damagedFiles / len(fuzzedDisks()) {
			what := spoil(t, r, files, sound)
			v := verdictOn(t, served, dir, silent)
			if err := d.check(what, v, verdictOn(t, served, dir, listing(mine()))); err != nil {
				t.Errorf("%s, %s: %v", d.name, what, err)
			}
			counts[fmt.Sprintf("%s; damaged: %s: %s", d.name, what.where(), outcome(v))]++
			for _, i := range what.files {
				overwrite(t, files[i], sound[i])
			}
		}
	}
	report(t, counts, served.crashes)
}

// harm is what was done to a disk.
type harm struct {
	log, bolt bool
	// honest is set if a crash could have left the log so.
	honest bool
	files  []int
	how    []string
}

func (h harm) String() string { return strings.Join(h.how, " and ") }

func (h harm) where() string {
	switch {
	case h.log && h.bolt:
		return "both"
	case h.log:
		return "the log"
	}
	return "the bolt file"
}

// spoil damages a segment, the bolt file, or one of each.
func spoil(t *testing.T, r *rand.Rand, files []string, sound [][]byte) harm {
	h := harm{honest: true}
	which := r.IntN(3)
	h.log, h.bolt = which != 0, which != 1
	damage := func(i int) []byte {
		how := damages[r.IntN(len(damages))]
		b := how.do(r, slices.Clone(sound[i]))
		overwrite(t, files[i], b)
		h.files, h.how = append(h.files, i), append(h.how, how.name+" of "+filepath.Base(files[i]))
		return b
	}
	if h.log {
		// The newest segment more often than each other.
		i := max(0, len(files)-2-r.IntN(2)*r.IntN(len(files)-1))
		h.honest = couldBeACrash(sound[i], damage(i)) && i == len(files)-2
	}
	if h.bolt {
		damage(len(files) - 1)
	}
	return h
}

// overwrite keeps the file's blocks: ext4 writes a file out that was emptied and
// filled again, which takes most of the time.
func overwrite(t *testing.T, path string, data []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(data, 0)
	must(t, err)
	must(t, file.Truncate(int64(len(data))))
	must(t, file.Close())
}

// couldBeACrash tells whether every sector is as it was, or zero, or cut off.
func couldBeACrash(sound, damaged []byte) bool {
	for from := 0; from < len(damaged); from += sector {
		b := damaged[from:min(len(damaged), from+sector)]
		if kept := bytes.TrimRight(b, "\x00"); !bytes.HasPrefix(sound[from:], kept) {
			return false
		}
	}
	return true
}

// check holds the verdicts, of a silent cluster and of one that lists the member,
// against what can be promised.
func (d disks) check(h harm, v, listed Verdict) error {
	refuse := v.Action == Refuse
	switch {
	case v.Reason == "" || listed.Reason == "":
		return fmt.Errorf("no reason: %+v", v)
	case listed.Action != Start:
		return fmt.Errorf("a listed member is held up: %+v", listed)
	case !refuse && v.Action != Start:
		return fmt.Errorf("the verdict is %+v", v)
	case !refuse && d.inBolt && !h.bolt:
		return fmt.Errorf("started with its tombstone: %+v", v)
	case !refuse && d.inLog && !h.honest:
		return fmt.Errorf("started with its removal in the log: %+v", v)
	case !refuse && d.inLog && !h.log:
		return fmt.Errorf("started with its removal in a sound log: %+v", v)
	case v.By == ByLog && v.Err == ErrMemberPermanentlyRemoved && !d.inLog:
		return fmt.Errorf("the log has made a removal up: %+v", v)
	}
	return nil
}

func outcome(v Verdict) string {
	if v.Action == Start {
		return "start"
	}
	return fmt.Sprintf("%v, by the %s", v.Err, v.By)
}

func report(t *testing.T, counts map[string]int, crashes int) {
	t.Helper()
	var lines []string
	for what, n := range counts {
		lines = append(lines, fmt.Sprintf("%6d  %s", n, what))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[8:], b[8:]) })
	t.Logf("%d damaged disks, %d dead readers:\n%s", damagedFiles, crashes, strings.Join(lines, "\n"))
}

func contents(t testing.TB, files []string) (out [][]byte) {
	for _, path := range files {
		data, err := os.ReadFile(path)
		must(t, err)
		out = append(out, data)
	}
	return out
}

// verdictOn asks as the agent does, witness by witness.
func verdictOn(t testing.TB, s *session, dir string, live Live) Verdict {
	f := Facts{Self: self(), Disk: ReadDisk(dir), Live: live}
	for {
		switch v := Judge(f); v.Action {
		case AskTombstone:
			f.Tombstone = s.tombstone(dir, f.Disk.MemberID)
		case AskLog:
			f.Logged = ReadLog(t.Context(), dir, f.Disk.MemberID)
		default:
			return v
		}
	}
}

// session is a child for many files: one that a file kills is replaced, and the
// file's answer is what the child's own parent would have made of it.
type session struct {
	t       testing.TB
	p       *process
	cancel  context.CancelFunc
	ctx     context.Context
	crashes int
}

func newSession(t testing.TB) *session {
	s := &session{t: t}
	t.Cleanup(func() { s.end(nil) })
	return s
}

func (s *session) tombstone(dir string, id ID) Witness {
	if s.p == nil {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		p, err := reader().start(s.ctx)
		must(s.t, err)
		s.p = p
	}
	hung := time.AfterFunc(10*time.Second, s.cancel)
	w, err := s.p.ask(tombstone.Request{Ask: tombstone.AskTombstone, DataDir: dir, ID: id, Timeout: time.Second})
	hung.Stop()
	if err != nil {
		s.crashes++
		return Witness{Answer: Unreadable, Why: s.end(err)}
	}
	return w
}

// end stops the child and says why it died of an error.
func (s *session) end(err error) string {
	if s.p == nil {
		return ""
	}
	ended := s.p.stop(err)
	why := s.p.cause(s.ctx, err, ended)
	s.cancel()
	s.p = nil
	return why
}
