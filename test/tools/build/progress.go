package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// progress tells what is being built and for how long: on a terminal in one
// line that is redrawn, elsewhere in a new line now and then.
type progress struct {
	out      io.Writer
	terminal bool
	every    time.Duration
}

func newProgress(out io.Writer) *progress {
	if file, ok := out.(*os.File); ok && os.Getenv("TERM") != "dumb" {
		if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return &progress{out: out, terminal: true, every: time.Second}
		}
	}
	return &progress{out: out, every: 30 * time.Second}
}

// step is one binary in the making.
type step struct {
	show       *progress
	name       string
	began      time.Time
	downloaded atomic.Int64 // modules
	compiled   atomic.Int64 // packages; what the build cache holds is not counted
	done       chan struct{}
	ended      sync.WaitGroup
}

func (p *progress) start(name string) *step {
	s := &step{show: p, name: name, began: time.Now(), done: make(chan struct{})}
	fmt.Fprint(p.out, p.line(s.name+": building"))
	s.ended.Go(s.tick)
	return s
}

func (s *step) tick() {
	ticker := time.NewTicker(s.show.every)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
			fmt.Fprint(s.show.out, s.show.line(s.text(time.Since(s.began))))
		}
	}
}

func (s *step) text(since time.Duration) string {
	text := fmt.Sprintf("%s: building for %s", s.name, since.Round(time.Second))
	if n := s.downloaded.Load(); n > 0 {
		text += fmt.Sprintf(", %d modules downloaded", n)
	}
	if n := s.compiled.Load(); n > 0 {
		text += fmt.Sprintf(", %d packages compiled", n)
	}
	return text
}

// end closes the step's line. A failure is the caller's to report.
func (s *step) end(err error) {
	close(s.done)
	s.ended.Wait()
	verdict := "built in"
	if err != nil {
		verdict = "failed after"
	}
	text := fmt.Sprintf("%s: %s %s", s.name, verdict, time.Since(s.began).Round(time.Second))
	if s.show.terminal {
		text += "\n"
	}
	fmt.Fprint(s.show.out, s.show.line(text))
}

// line is the text as it goes out: over the line before on a terminal.
func (p *progress) line(text string) string {
	if p.terminal {
		return "\r\x1b[K" + text
	}
	return text + "\n"
}
