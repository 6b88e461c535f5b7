package world

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/quorate/quorate/test/cluster"
)

// starterVariable makes the test binary start a child and wait to be killed.
const starterVariable = "QUORATE_TEST_STARTER"

func TestMain(m *testing.M) {
	if log := os.Getenv(starterVariable); log != "" {
		starter(log)
	}
	os.Exit(m.Run())
}

func starter(log string) {
	if _, err := run(log, "/bin/sleep", "1000"); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("started\n")
	select {}
}

func TestStopEndsTheChild(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"asked": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			p, err := run(filepath.Join(t.TempDir(), "log"), "/bin/sleep", "1000")
			if err != nil {
				t.Fatal(err)
			}
			if err := p.alive(); err != nil {
				t.Fatal(err)
			}
			if err := p.stop(signal); err != nil {
				t.Error(err)
			}
			if err := p.alive(); !errors.Is(err, errEnded) {
				t.Errorf("it lives: %v", err)
			}
		})
	}
}

func TestStopTellsOfAnEarlyEnd(t *testing.T) {
	p, err := run(filepath.Join(t.TempDir(), "log"), "/bin/false")
	if err != nil {
		t.Fatal(err)
	}
	<-p.ended
	if err := p.stop(syscall.SIGTERM); !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("stop: %v", err)
	}
}

// TestAManagerThatEndsIsNotWaitedFor: the wait for readiness ends with the
// process, and the error quotes its log.
func TestAManagerThatEndsIsNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "logs"), 0o755); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho no configuration >&2\nexit 3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	w := &World{Cluster: &cluster.Cluster{Dir: dir}, Binary: broken, actors: map[string]*cluster.Access{Controller: {}}}
	_, err := w.StartManager(t.Context(), "manager-0")
	if !errors.Is(err, errEnded) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("start: %v", err)
	}
}

// TestNothingOutlivesAKilledStarter: the starter, its child and the watchdog all
// hold the pipe's other end, so it is closed once all of them are gone.
func TestNothingOutlivesAKilledStarter(t *testing.T) {
	held, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), starterVariable+"="+filepath.Join(t.TempDir(), "log"))
	cmd.ExtraFiles = []*os.File{hold}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hold.Close()
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("the starter said %q: %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := held.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := held.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("something still runs: %v", err)
	}
}
