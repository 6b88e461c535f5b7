package process

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
	p, err := Start(log, "/bin/sleep", "1000")
	if err != nil {
		panic(err)
	}
	// Halted, it is the hardest to end.
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("started\n")
	select {}
}

func TestStopEndsTheChild(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"asked": syscall.SIGTERM, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			p, err := Start(filepath.Join(t.TempDir(), "log"), "/bin/sleep", "1000")
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Alive(); err != nil {
				t.Fatal(err)
			}
			if err := p.Stop(signal); err != nil {
				t.Error(err)
			}
			if err := p.Alive(); !errors.Is(err, ErrEnded) {
				t.Errorf("it lives: %v", err)
			}
		})
	}
}

func TestStopTellsOfAnEarlyEnd(t *testing.T) {
	p, err := Start(filepath.Join(t.TempDir(), "log"), "/bin/false")
	if err != nil {
		t.Fatal(err)
	}
	<-p.Ended()
	if err := p.Stop(syscall.SIGTERM); !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "exit status 1") {
		t.Errorf("stop: %v", err)
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
