package worker

import (
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/snapshot"
)

// A child ends with its parent, wherever it is: here it waits for a pipe to be opened.
func TestAChildEndsWithItsParent(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	self, err := os.Executable()
	must(t, err)
	child := exec.CommandContext(t.Context(), self, snapshot.Role)
	in, err := child.StdinPipe()
	must(t, err)
	must(t, child.Start())
	_, err = io.WriteString(in, `{"do": "inspect", "path": "`+pipe+`", "limits": {"memory": 268435456, "time": 60000000000}}`+"\n")
	must(t, err)
	must(t, in.Close())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	select {
	case err := <-ended:
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
			t.Errorf("it ended with %v, want exit code 1", err)
		}
	case <-time.After(time.Minute):
		t.Error("it is still there a minute after its parent")
		_ = child.Process.Kill()
		<-ended
	}
}

// A child that would need more memory than it may dies, and nobody else.
func TestLimitOfMemory(t *testing.T) {
	w := &snapshot.Worker{Limits: snapshot.Limits{Memory: 1 << 20}}
	_, err := w.Inspect(t.Context(), snapshotOf(t, many(20_000)))
	if !errors.Is(err, snapshot.ErrWorker) && !errors.Is(err, snapshot.ErrDamaged) {
		t.Fatalf("got %v", err)
	}
	// Go's runtime says so, or falls over the mapping that it did not get.
	if text := err.Error(); !strings.Contains(text, "memory") && !strings.Contains(text, "the child that opened it died: ") {
		t.Errorf("got %v, want how the child died", err)
	}
}

// A person who starts it is told that it is not for people.
func TestNoJob(t *testing.T) {
	for _, tt := range []struct{ job, want string }{
		{"", "the snapshot could not be looked at: this command is started by others of its kind, and reads its job from them: EOF"},
		{"{\n", "the snapshot could not be looked at: read the job: unexpected end of JSON input"},
	} {
		_, err := work(strings.NewReader(tt.job), nil)
		if !errors.Is(err, snapshot.ErrWorker) || err.Error() != tt.want {
			t.Errorf("%q: %v, want %s", tt.job, err, tt.want)
		}
	}
}

func TestBumps(t *testing.T) {
	path := snapshotOf(t, small)
	for _, tt := range []struct {
		bump int64
		want string
	}{
		{0, "reseal the snapshot: the snapshot could not be looked at: revision 9 cannot be raised by 0"},
		{-1, "reseal the snapshot: the snapshot could not be looked at: revision 9 cannot be raised by -1"},
		{math.MaxInt64, "reseal the snapshot: the snapshot could not be looked at: revision 9 cannot be raised by 9223372036854775807"},
	} {
		_, err := (&snapshot.Worker{}).Reseal(t.Context(), path, filepath.Join(t.TempDir(), "out"), tt.bump)
		if !errors.Is(err, snapshot.ErrWorker) || err.Error() != tt.want {
			t.Errorf("got %v, want %s", err, tt.want)
		}
	}
}
