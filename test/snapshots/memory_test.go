package snapshots

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/test/etcdcluster"
)

const (
	values   = 310 // of 1 MiB
	mostAnon = 64 << 20
)

// The program is larger than what a unit test starts: with 300 MiB of a real etcd, its
// child too stays below 64 MiB of memory that no file backs.
//
// covers: C-37
func TestMemoryOfTheProgram(t *testing.T) {
	w := worker(t)
	releases, err := etcdcluster.Releases(t.Context(), "3.6", os.Stderr)
	must(t, err)
	c, m := original(t, releases[0])
	large(t, m)
	dir := t.TempDir()
	taken, out := filepath.Join(dir, "taken"), filepath.Join(dir, "out")
	must(t, c.Snapshot(t.Context(), m, taken))
	must(t, m.Stop())
	if info, err := os.Stat(taken); err != nil || info.Size() < 300<<20 {
		t.Fatalf("the snapshot: %v, %v", info, err)
	}
	for _, work := range []struct {
		name string
		do   func() error
	}{
		{"inspect", func() error { _, err := w.Inspect(t.Context(), taken); return err }},
		{"reseal", func() error { _, err := w.Reseal(t.Context(), taken, out, bump); return err }},
	} {
		stop, peak := make(chan struct{}), make(chan int64)
		go func() { peak <- watchChildren(stop) }()
		began := time.Now()
		err := work.do()
		close(stop)
		most := <-peak
		t.Logf("%s: %v, %d MiB", work.name, time.Since(began).Round(time.Millisecond), most>>20)
		if err != nil || most == 0 || most > mostAnon {
			t.Errorf("%s: %v, %d bytes", work.name, err, most)
		}
	}
}

func large(t *testing.T, m *etcdcluster.Member) {
	t.Helper()
	c, ctx, value := client(t, m), within(t, 5*time.Minute), make([]byte, 1<<20)
	_, err := rand.Read(value)
	must(t, err)
	for i := range values {
		_, err := c.Put(ctx, fmt.Sprintf("/registry/large/%d", i), string(value))
		must(t, err)
	}
}

// watchChildren is the most anonymous memory, in bytes, of any child until it is stopped.
func watchChildren(stop <-chan struct{}) (peak int64) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return peak
		case <-tick.C:
			tasks, _ := filepath.Glob("/proc/self/task/*/children")
			for _, path := range tasks {
				children, _ := os.ReadFile(path) // a thread may end meanwhile
				for _, pid := range strings.Fields(string(children)) {
					peak = max(peak, anonymous(pid))
				}
			}
		}
	}
}

// anonymous is a process's RssAnon in bytes; 0 if it is gone.
func anonymous(pid string) int64 {
	data, _ := os.ReadFile(filepath.Join("/proc", pid, "status"))
	_, rest, found := strings.Cut(string(data), "RssAnon:")
	if !found {
		return 0
	}
	kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10
}
