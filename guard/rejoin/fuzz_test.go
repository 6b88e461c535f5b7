package rejoin

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
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
