package rejoin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/quorate/quorate/guard/rejoin/tombstone"
)

// How often an Unreadable answer is asked for again, and how long is waited before
// the second time; it doubles then.
const (
	attempts     = 3
	firstBackoff = 200 * time.Millisecond
)

// longestAnswer is in bytes: a reason names a path.
const longestAnswer = 64 << 10

// Child asks in a process of its own, which a damaged file may kill.
type Child struct {
	// Program and Args run tombstone.Serve on their standard input and output.
	Program string
	Args    []string
	// Timeout bounds one attempt; 0 is 5 s. It should be above the second for which
	// a locked file is waited.
	Timeout time.Duration
}

// Tombstone is tombstone.Read in a child. Unreadable is asked again twice, with
// backoff, within ctx: etcd may be about to end and to unlock the file. A child that
// dies, hangs or talks nonsense is Unreadable.
func (c Child) Tombstone(ctx context.Context, dataDir string, id ID) Witness {
	return c.ask(ctx, tombstone.Request{Ask: tombstone.AskTombstone, DataDir: dataDir, ID: id})
}

// Applied is tombstone.Applied in a child, asked as Tombstone is.
func (c Child) Applied(ctx context.Context, dataDir string) Witness {
	return c.ask(ctx, tombstone.Request{Ask: tombstone.AskApplied, DataDir: dataDir})
}

func (c Child) ask(ctx context.Context, r tombstone.Request) Witness {
	r.Timeout = c.timeout()
	backoff := firstBackoff
	for n := 1; ; n++ {
		w := c.once(ctx, r)
		if w.Answer != Unreadable || n == attempts {
			return w
		}
		select {
		case <-ctx.Done():
			return w
		case <-time.After(backoff):
		}
		backoff *= 2
	}
}

func (c Child) once(ctx context.Context, r tombstone.Request) Witness {
	ctx, cancel := context.WithTimeout(ctx, c.timeout())
	defer cancel()
	p, err := c.start(ctx)
	if err != nil {
		return Witness{Answer: Unreadable, Why: c.unstarted(err)}
	}
	w, err := p.ask(r)
	if ended := p.stop(err); err != nil {
		return Witness{Answer: Unreadable, Why: p.cause(ctx, err, ended)}
	}
	return w
}

// unstarted says what is to be mended: a program that is missing is no fault of the
// disk, nor of the cluster.
func (c Child) unstarted(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("the reader %s is missing: install it", c.Program)
	}
	return fmt.Sprintf("start the reader: %v", err)
}

func (c Child) timeout() time.Duration {
	if c.Timeout == 0 {
		return 5 * time.Second
	}
	return c.Timeout
}

// process is a running child.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  head
}

func (c Child) start(ctx context.Context) (*process, error) {
	p := &process{command: exec.CommandContext(ctx, c.Program, c.Args...)}
	p.command.Env = append(os.Environ(), "GOTRACEBACK=none")
	p.command.Stderr = &p.stderr
	p.command.WaitDelay = time.Second
	var err error
	if p.in, err = p.command.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReaderSize(out, longestAnswer)
	return p, p.command.Start()
}

func (p *process) ask(r tombstone.Request) (Witness, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return Witness{}, err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return Witness{}, err
	}
	// The buffer bounds the line.
	if line, err = p.out.ReadSlice('\n'); err != nil {
		return Witness{}, err
	}
	var w Witness
	if err := json.Unmarshal(line, &w); err != nil {
		return Witness{}, err
	}
	if w.Answer != Yes && w.Answer != No && w.Answer != Unreadable {
		return Witness{}, fmt.Errorf("it answers %q", w.Answer)
	}
	return w, nil
}

// stop ends a child: by the end of its input if it has answered, by force if it
// talks nonsense.
func (p *process) stop(err error) error {
	_ = p.in.Close()
	if err != nil && !errors.Is(err, io.EOF) {
		_ = p.command.Process.Kill()
	}
	return p.command.Wait()
}

// cause says in one line what became of the child.
func (p *process) cause(ctx context.Context, err, ended error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(p.stderr.String()), "\n")
	switch {
	case ctx.Err() != nil:
		return "the reader did not answer in time"
	case line != "":
		return "the reader crashed: " + line
	case errors.Is(err, io.EOF):
		return fmt.Sprintf("the reader crashed: %v", ended)
	}
	return fmt.Sprintf("the reader talks nonsense: %v", err)
}

// head keeps the first 4 KiB that are written to it.
type head struct{ bytes.Buffer }

func (h *head) Write(p []byte) (int, error) {
	if room := 4<<10 - h.Len(); room > 0 {
		_, _ = h.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}
