package worker

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/quorate/quorate/internal/snapshot"
)

const (
	// memoryGoal is what the collector works towards, in bytes: it leaves room for what
	// is not on the heap below the 64 MiB that a process may use.
	memoryGoal = 40 << 20
	// maxStack ends a walk through a database whose pages lead back to themselves.
	maxStack = 8 << 20
	maxJob   = 1 << 20
)

// Serve is the child's main: it does the job that is the first line of stdin, answers on
// stdout in frames, and gives the exit code. The process ends when stdin does, as
// its parent is gone then.
func Serve(stdin io.Reader, stdout io.Writer) int {
	debug.SetMemoryLimit(memoryGoal)
	debug.SetMaxStack(maxStack)
	out := bufio.NewWriter(stdout)
	result, err := work(stdin, out)
	if err == nil {
		err = send(out, snapshot.FrameDone, result)
	} else {
		err = send(out, snapshot.FrameFailed, snapshot.FailureOf(err))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func send(out *bufio.Writer, kind snapshot.FrameKind, what any) error {
	data, err := json.Marshal(what)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if err := snapshot.WriteFrame(out, kind, data); err != nil {
		return err
	}
	return out.Flush()
}

func work(stdin io.Reader, out *bufio.Writer) (any, error) {
	in := bufio.NewReader(io.LimitReader(stdin, maxJob))
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("%w: this command is started by others of its kind, and reads its job from them: %w", snapshot.ErrWorker, err)
	}
	var job snapshot.Job
	if err := json.Unmarshal(line, &job); err != nil {
		return nil, fmt.Errorf("%w: read the job: %w", snapshot.ErrWorker, err)
	}
	if err := limit(job.Limits, job.Path); err != nil {
		return nil, err
	}
	go endWith(stdin)
	return do(job, out)
}

// endWith ends this process with its parent.
func endWith(stdin io.Reader) {
	_, _ = io.Copy(io.Discard, stdin)
	os.Exit(1)
}

// do does it. What panics here is recovered, so that the parent is told of it in order;
// what panics in a goroutine of bolt's is not.
func do(job snapshot.Job, out *bufio.Writer) (result any, err error) {
	size, sum, err := checked(job.Path)
	if err != nil {
		return nil, err
	}
	if err := snapshot.WriteFrame(out, snapshot.FrameOpened, nil); err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	debug.SetPanicOnFault(true) // a page that the file does not have
	defer func() {
		if p := recover(); p != nil {
			result, err = nil, fmt.Errorf("%w: reading it failed with: %v", snapshot.ErrDamaged, p)
		}
	}()
	switch job.Do {
	case snapshot.JobInspect:
		return inspect(job.Path, size, sum)
	case snapshot.JobReseal:
		return reseal(job)
	case snapshot.JobKeys:
		return nil, keys(job.Path, job.Prefix, out)
	}
	return nil, fmt.Errorf("%w: there is no job %q", snapshot.ErrWorker, job.Do)
}

// checked is the size and the sum of a file whose own sum is right.
func checked(path string) (int64, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, "", fmt.Errorf("%w: %w", snapshot.ErrWorker, err)
	}
	size, sum, err := snapshot.Check(file)
	return size, sum, errors.Join(err, file.Close())
}
