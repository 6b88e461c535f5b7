package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// job is a target that has to be compiled, and the stamp it gets.
type job struct {
	target
	stamp  string
	number int // of the target in its plan, from 1
}

// missing answers the targets that are not there or out of date.
func (p *plan) missing() ([]job, error) {
	var jobs []job
	for i, t := range p.targets {
		stamp, err := t.stamp()
		if err != nil {
			return nil, err
		}
		if !t.upToDate(p.dir, stamp) {
			jobs = append(jobs, job{t, stamp, i + 1})
		}
	}
	return jobs, nil
}

// build compiles what is missing, one after the other: the targets share most
// packages through Go's build cache.
func (p *plan) build(ctx context.Context, show *progress) error {
	jobs, err := p.missing()
	if err != nil {
		return err
	}
	for _, j := range jobs {
		name := fmt.Sprintf("[%d/%d] %s %s", j.number, len(p.targets), j.name, j.version)
		if err := j.compile(ctx, p.dir, j.stamp, show.start(name)); err != nil {
			return err
		}
	}
	return nil
}

func (t target) stampFile(dir string) string { return filepath.Join(dir, "."+t.name+".stamp") }

func (t target) upToDate(dir, want string) bool {
	if t.unstamped {
		return false
	}
	have, err := os.ReadFile(t.stampFile(dir))
	if err != nil || strings.TrimSpace(string(have)) != want {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, t.name))
	return err == nil
}

// compile builds beside the final name and moves last, so that an interrupted
// build never leaves half a binary behind, nor a stamp without its binary.
func (t target) compile(ctx context.Context, dir, stamp string, step *step) (err error) {
	defer func() { step.end(err) }()
	out := filepath.Join(dir, t.name)
	fresh := filepath.Join(dir, "."+t.name+".new")
	defer os.Remove(fresh)
	if t.wrapper != nil {
		if err := t.wrapper.write(); err != nil {
			return err
		}
	}
	if err := t.goBuild(ctx, fresh, step); err != nil {
		return err
	}
	if err := os.Remove(t.stampFile(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", t.name, err)
	}
	if err := os.Rename(fresh, out); err != nil {
		return fmt.Errorf("put %s in place: %w", t.name, err)
	}
	if err := os.WriteFile(t.stampFile(dir), []byte(stamp+"\n"), 0o644); err != nil {
		return fmt.Errorf("stamp %s: %w", t.name, err)
	}
	return nil
}

func (t target) goBuild(ctx context.Context, out string, step *step) error {
	cmd := exec.CommandContext(ctx, "go", t.goArgs(out)...)
	cmd.Dir = t.module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	said, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("build %s: %w", t.name, err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("build %s: is Go installed and in PATH? %w", t.name, err)
	}
	complaints := follow(said, step)
	if err := cmd.Wait(); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build %s: stopped: %w", t.name, context.Cause(ctx))
		}
		return fmt.Errorf("build %s %s with \"go %s\" in %s: %w\n%s",
			t.name, t.version, strings.Join(cmd.Args[1:], " "), t.module, err, strings.Join(complaints, "\n"))
	}
	return nil
}

// maxComplaints is how many lines of the compiler an error message keeps.
const maxComplaints = 40

// follow reads what go says until it is done: downloads and packages are
// counted, everything else is kept for the error message.
func follow(said io.Reader, step *step) (complaints []string) {
	lines := bufio.NewScanner(said)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "go: downloading "):
			step.downloaded.Add(1)
		case isPackage(line):
			step.compiled.Add(1)
		case len(complaints) < maxComplaints:
			complaints = append(complaints, line)
		}
	}
	// A line beyond the buffer ends the scan; go must not block on a full pipe.
	_, _ = io.Copy(io.Discard, said)
	return complaints
}

// isPackage tells an import path from a message: messages have blanks or colons.
func isPackage(line string) bool {
	return line != "" && !strings.ContainsAny(line, " \t:")
}
