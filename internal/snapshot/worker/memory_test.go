package worker

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"github.com/quorate/quorate/internal/snapshot"
)

const (
	bigValues = 290 // of 1 MiB
	bigKeys   = 130_000
	mostAnon  = 64 << 20
)

// big makes a snapshot with large values, and with more keys than fit into one batch.
func big(path string) error {
	value := make([]byte, 1<<20)
	_, _ = rand.Read(value) // it does not fail
	return makeSnapshot(path, func(kv mvcc.KV) {
		for i := range bigValues {
			kv.Put(fmt.Appendf(nil, "/registry/large/%d", i), value, lease.NoLease)
		}
		many(bigKeys)(kv)
	})
}

// anonymous is a process's memory that no file backs, in bytes.
func anonymous(pid string) (int64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", pid, "status"))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(data), "RssAnon:")
	if !found {
		return 0, errors.New("no RssAnon in /proc: a process that ends has none")
	}
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10, err
}

// peaks samples this process and its children until it is stopped.
type peaks struct {
	self, child int64
	samples     int // of children
	stop, done  chan struct{}
}

func watchMemory() *peaks {
	p := &peaks{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(p.done)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.sample()
			}
		}
	}()
	return p
}

func (p *peaks) sample() {
	if anon, err := anonymous("self"); err == nil {
		p.self = max(p.self, anon)
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, path := range tasks {
		children, _ := os.ReadFile(path)
		for _, pid := range strings.Fields(string(children)) {
			if anon, err := anonymous(pid); err == nil {
				p.child, p.samples = max(p.child, anon), p.samples+1
			}
		}
	}
}

func (p *peaks) end() {
	close(p.stop)
	<-p.done
}

// piped seals a snapshot and verifies what comes of it at the same time: nothing is kept.
func piped(path string, k *snapshot.Key) (made, found snapshot.Sealed, err error) {
	file, err := os.Open(path)
	if err != nil {
		return made, found, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		var err error
		made, err = snapshot.Seal(w, file, k)
		done <- w.CloseWithError(err)
	}()
	found, err = snapshot.Verify(r, k)
	return made, found, errors.Join(err, r.CloseWithError(err), <-done)
}

// With a database of 300 MiB and 130,000 keys, no process needs more than 64 MiB of memory
// that no file backs.
//
// covers: C-37
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	path, out := filepath.Join(dir, "snapshot"), filepath.Join(dir, "out")
	self, err := os.Executable()
	must(t, err)
	if said, err := exec.CommandContext(t.Context(), self, makeBig, path).CombinedOutput(); err != nil {
		t.Fatalf("make the snapshot: %v: %s", err, bytes.TrimSpace(said))
	}
	info, err := os.Stat(path)
	must(t, err)
	if info.Size() < 300<<20 {
		t.Fatalf("the snapshot has %d bytes", info.Size())
	}
	k, err := snapshot.DeriveKey([]byte("cluster: {id: aWQ=, secret: c2VjcmV0}\nsecrets: {secretboxencryptionsecret: Ym94}\n"))
	must(t, err)
	w := &snapshot.Worker{}
	for _, work := range []struct {
		name string
		do   func() error
		born bool // a child does it
	}{
		{"seal and verify", func() error {
			made, found, err := piped(path, k)
			if err == nil && (made != found || made.PlainSize != info.Size()) {
				err = fmt.Errorf("sealed %+v, verified %+v", made, found)
			}
			return err
		}, false},
		{"inspect", func() error {
			found, err := w.Inspect(t.Context(), path)
			if err == nil && found.Keys != bigKeys+bigValues {
				err = fmt.Errorf("found %+v", found)
			}
			return err
		}, true},
		{"keys", func() error { return sortedKeys(t, w, path) }, true},
		{"reseal", func() error {
			made, err := w.Reseal(t.Context(), path, out, 1e9)
			if err == nil && made.Keys != bigKeys+bigValues {
				err = fmt.Errorf("made %+v", made)
			}
			return err
		}, true},
	} {
		began, p := time.Now(), watchMemory()
		err := work.do()
		p.end()
		t.Logf("%s: %v, %d MiB here, %d MiB in the child", work.name, time.Since(began).Round(time.Millisecond), p.self>>20, p.child>>20)
		if err != nil {
			t.Errorf("%s: %v", work.name, err)
		}
		if p.self > mostAnon || p.child > mostAnon || p.self == 0 || (work.born && p.samples < 10) {
			t.Errorf("%s: %d bytes here, %d in the child (%d samples)", work.name, p.self, p.child, p.samples)
		}
	}
}

// sortedKeys lists all keys, and fails unless they are in order and complete.
func sortedKeys(t *testing.T, w *snapshot.Worker, path string) error {
	n, last := 0, ""
	for key, err := range w.Keys(t.Context(), path, "") {
		if err != nil {
			return err
		}
		if key <= last {
			return fmt.Errorf("%s comes after %s", key, last)
		}
		n, last = n+1, key
	}
	if n != bigKeys+bigValues {
		return fmt.Errorf("%d keys", n)
	}
	return nil
}
