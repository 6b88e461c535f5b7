package tombstone

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/quorate/quorate/guard/rejoin/witness"
)

// The limits of a child, in bytes: it needs next to nothing, and a damaged file
// must not make it take what the parent's container has.
const (
	childStack = 16 << 20
	childData  = 64 << 20 // above what it has at its start
)

// What a request asks for.
const (
	AskTombstone = "tombstone" // see Read
	AskApplied   = "applied"   // see Applied
)

// Request is one line of JSON on the child's standard input. The answer is a
// Witness as one line of JSON on its standard output.
type Request struct {
	Ask     string        `json:"ask"`
	DataDir string        `json:"dataDir"`
	ID      witness.ID    `json:"id"`
	Timeout time.Duration `json:"timeout"`
}

// Serve answers requests on in until it ends, and gives an exit code; rejoin.Child
// is its other side. The process must do nothing else, since its memory is limited
// for good.
func Serve(in io.Reader, out io.Writer) int {
	debug.SetMaxStack(childStack)
	if err := limitData(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if err := answer(lines.Bytes(), out); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func answer(line []byte, out io.Writer) error {
	var r Request
	if err := json.Unmarshal(line, &r); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Timeout)
	defer cancel()
	w := witness.Witness{Answer: witness.Unreadable, Why: fmt.Sprintf("nothing is called %q", r.Ask)}
	switch r.Ask {
	case AskTombstone:
		w = Read(ctx, r.DataDir, r.ID)
	case AskApplied:
		w = Applied(ctx, r.DataDir)
	}
	if err := json.NewEncoder(out).Encode(w); err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	return nil
}

// limitData bounds private writable memory, of which mapped files are no part
// (setrlimit(2), RLIMIT_DATA, Linux 4.7 and later).
func limitData() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read the memory in use: %w", err)
	}
	_, rest, _ := strings.Cut(string(status), "VmData:")
	var kib uint64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return fmt.Errorf("read the memory in use: %w", err)
	}
	limit := kib<<10 + childData
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		return fmt.Errorf("limit the memory: %w", err)
	}
	return nil
}
