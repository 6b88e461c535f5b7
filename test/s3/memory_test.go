package s3

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/store"
)

const (
	// memoryVariable makes the test binary the child whose memory is measured; it holds
	// the options.
	memoryVariable = "QUORATE_TEST_S3_MEMORY"
	bigSize        = 400 << 20
	// mostMemory is what a process may have of memory of its own.
	mostMemory = 64 << 20
)

// Anonymous memory has a bound, however long an object is: a controller's would not
// hold a snapshot.
//
// covers: C-37
func TestMemoryOfBigObjects(t *testing.T) {
	options, err := json.Marshal(server.Options(folder()))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	child := exec.CommandContext(ctx, own)
	child.Env = append(os.Environ(), memoryVariable+"="+string(options))
	said, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("the child: %v: %s", err, said)
	}
	peak, err := strconv.Atoi(strings.TrimSpace(string(said)))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB of memory for %d MiB", peak>>20, bigSize>>20)
	if peak > mostMemory {
		t.Errorf("it took %d bytes, want at most %d", peak, mostMemory)
	}
}

// memoryChild puts and gets an object, and prints the most memory that it saw itself use.
func memoryChild() int {
	peak, err := transfer()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(peak)
	return 0
}

func transfer() (peak int, err error) {
	var o store.Options
	if err := json.Unmarshal([]byte(os.Getenv(memoryVariable)), &o); err != nil {
		return 0, err
	}
	s, err := store.NewS3(o)
	if err != nil {
		return 0, err
	}
	m := &meter{left: bigSize}
	if _, err := s.Put(context.Background(), "big", m); err != nil {
		return 0, err
	}
	r, _, err := s.Get(context.Background(), "big")
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(m, r)
	if n != bigSize {
		err = errors.Join(err, fmt.Errorf("read %d bytes", n))
	}
	return m.peak, errors.Join(err, r.Close(), m.err)
}

// meter is content, and looks at the process's memory once a MiB.
type meter struct {
	left, since, peak int
	err               error
}

func (m *meter) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), m.left)
	m.left -= n
	m.count(n)
	return n, nil
}

func (m *meter) Write(p []byte) (int, error) {
	m.count(len(p))
	return len(p), nil
}

func (m *meter) count(n int) {
	if m.since += n; m.since < 1<<20 {
		return
	}
	m.since = 0
	now, err := anonymous()
	m.peak, m.err = max(m.peak, now), errors.Join(m.err, err)
}

// anonymous is what the process has of memory that no file is behind, in bytes.
func anonymous() (int, error) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "RssAnon:"); ok {
			kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
			return kib << 10, err
		}
	}
	return 0, errors.New("/proc/self/status has no RssAnon")
}
