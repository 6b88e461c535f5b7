package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// step is one command and what its answer must be.
type step struct {
	// title begins a part; empty within one.
	title string
	// command is what is typed; its words have no spaces.
	command string
	// input is its standard input.
	input string
	// name says what is shown.
	name string
	// code is the exit code that it ends with, says what its answer must have.
	code int
	says []string
	// settles has it repeated until the answer is as it must be, for a while.
	settles bool
}

// performance is the demonstration while it is played.
type performance struct {
	to               io.Writer
	mu               sync.Mutex
	began            time.Time
	home, kubeconfig string
	programs         map[string]string
	steps, wrong     int
}

const (
	// stepTimeout bounds a command; a restore takes its time.
	stepTimeout = 15 * time.Minute
	// settleTime is how long a step that settles is repeated.
	settleTime = time.Minute
)

func (p *performance) play(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if s.title != "" {
			p.line("\n== " + s.title)
		}
		if err := p.step(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

func (p *performance) step(ctx context.Context, s step) error {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	p.line("\nadmin$ " + s.command)
	if s.input != "" {
		p.line(strings.TrimRight(s.input, "\n"))
	}
	until := time.Now().Add(settleTime)
	for {
		answer, code, err := p.run(ctx, s)
		if err != nil {
			return err
		}
		problems := s.problems(answer, code)
		if len(problems) > 0 && s.settles && time.Now().Before(until) {
			if err := pause(ctx); err != nil {
				return err
			}
			continue
		}
		p.verdict(s, answer, problems)
		return nil
	}
}

// pause is between two tries.
func pause(ctx context.Context) error {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// run shows each line of the answer as it comes, unless the command is tried again.
func (p *performance) run(ctx context.Context, s step) (answer string, code int, err error) {
	words := strings.Fields(s.command)
	cmd := exec.CommandContext(ctx, p.programs[words[0]], words[1:]...)
	cmd.Stdin = strings.NewReader(s.input)
	cmd.Env = []string{"KUBECONFIG=" + p.kubeconfig, "HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "NO_COLOR=1"}
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	var all strings.Builder
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(r); lines.Scan(); {
			all.WriteString(lines.Text() + "\n")
			if !s.settles {
				p.line(lines.Text())
			}
		}
	}()
	err = cmd.Run()
	_ = w.Close() // never fails
	<-done
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return "", 0, fmt.Errorf("run %s: %w", words[0], err)
	}
	return all.String(), cmd.ProcessState.ExitCode(), nil
}

func (s step) problems(answer string, code int) (out []string) {
	if code != s.code {
		out = append(out, fmt.Sprintf("the exit code is %d, want %d", code, s.code))
	}
	for _, want := range s.says {
		if !strings.Contains(answer, want) {
			out = append(out, fmt.Sprintf("it does not say %q", want))
		}
	}
	return out
}

func (p *performance) verdict(s step, answer string, problems []string) {
	p.steps++
	if s.settles {
		p.line(strings.TrimRight(answer, "\n"))
	}
	if len(problems) == 0 {
		p.line("✓ " + s.name)
		return
	}
	p.wrong++
	p.line("✗ " + s.name)
	for _, problem := range problems {
		p.line("  " + problem)
	}
}

// line has the time since the demonstration began before it.
func (p *performance) line(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range strings.Split(text, "\n") {
		if l == "" {
			_, _ = fmt.Fprintln(p.to)
			continue
		}
		_, _ = fmt.Fprintf(p.to, "%6.1fs  %s\n", time.Since(p.began).Seconds(), l)
	}
}

func (p *performance) end(start time.Duration) {
	verdict := "all as expected"
	if p.wrong > 0 {
		verdict = fmt.Sprintf("%d not as expected", p.wrong)
	}
	p.line(fmt.Sprintf("\n%d steps, %s, in %.0f s (and %.0f s to start everything)", p.steps, verdict, time.Since(p.began).Seconds(), start.Seconds()))
}
