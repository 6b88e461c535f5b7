package snapshot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
)

// Worker has snapshots in plain opened by a child process, one for each piece of work.
// The child checks the sum at the end before it opens the database; it has limits, and
// ends with its context and with this process.
//
// Its errors: ErrTruncated and ErrChecksum; ErrDamaged with the child's last words
// if it died of what is in the file; ErrWorker if nothing can be said of the file; the
// context's own.
type Worker struct {
	// Command starts the child; it is this executable with the argument Role if it is
	// empty.
	Command []string
	Limits  Limits
}

// Inspect reads what is in a snapshot.
func (w *Worker) Inspect(ctx context.Context, path string) (Inspection, error) {
	var found Inspection
	if err := w.ask(ctx, Job{Do: JobInspect, Path: path}, &found); err != nil {
		return Inspection{}, fmt.Errorf("inspect the snapshot: %w", err)
	}
	return found, nil
}

// Reseal makes of the snapshot in one that begins at a revision that is higher by bump,
// with all before it marked as compacted: whoever watches from before is told so, and
// lists again. It needs as much room again beside out, which is there only once it
// is whole.
func (w *Worker) Reseal(ctx context.Context, in, out string, bump int64) (made Resealed, err error) {
	out, err = filepath.Abs(out)
	if err != nil {
		return Resealed{}, fmt.Errorf("reseal the snapshot: %w", err)
	}
	scratch := out + ".scratch"
	if err := fresh(scratch); err != nil {
		return Resealed{}, fmt.Errorf("reseal the snapshot: %w: %w", ErrWorker, err)
	}
	defer func() {
		if gone := os.RemoveAll(scratch); gone != nil && err == nil {
			err = fmt.Errorf("reseal the snapshot: erase what it was made in: %w", gone)
		}
	}()
	if err := w.ask(ctx, Job{Do: JobReseal, Path: in, Scratch: scratch, Out: out, Bump: bump}, &made); err != nil {
		return Resealed{}, fmt.Errorf("reseal the snapshot: %w", err)
	}
	return made, nil
}

// fresh is an empty folder, whatever an earlier process left there.
func fresh(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("erase what an earlier one left: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make a folder for it: %w", err)
	}
	return nil
}

// Keys are those that are alive at the last revision and begin with prefix, sorted. An
// error is the last that it gives.
func (w *Worker) Keys(ctx context.Context, path, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		stopped := false
		err := w.run(ctx, Job{Do: JobKeys, Path: path, Prefix: prefix}, func(kind FrameKind, data []byte) bool {
			stopped = kind == FrameKey && !yield(string(data), nil)
			return !stopped
		})
		if err != nil && !stopped {
			yield("", fmt.Errorf("list the keys of the snapshot: %w", err))
		}
	}
}

// ask has one piece of work done whose result is into.
func (w *Worker) ask(ctx context.Context, job Job, into any) error {
	var result []byte
	err := w.run(ctx, job, func(kind FrameKind, data []byte) bool {
		if kind == FrameDone {
			result = data
		}
		return true
	})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fmt.Errorf("%w: read the child's answer: %w", ErrWorker, err)
	}
	return nil
}

// run has a child do a job, and hands over its frames until take wants no more.
func (w *Worker) run(ctx context.Context, job Job, take func(FrameKind, []byte) bool) error {
	job.Limits = w.Limits.orDefaults()
	limited, cancel := context.WithTimeoutCause(ctx, job.Limits.Time, errOverdue)
	defer cancel()
	c, err := start(limited, w.Command, job)
	if err != nil {
		return fmt.Errorf("%w: start the child: %w", ErrWorker, err)
	}
	err = read(c, take)
	died := errors.Is(err, errEnded)
	c.end(!died)
	switch {
	case !died:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(context.Cause(limited), errOverdue):
		return fmt.Errorf("%w: the child was not done within %v", ErrWorker, job.Limits.Time)
	}
	return c.death()
}

// read reads until the answer's end: nil, what the child failed with, or errEnded.
func read(c *child, take func(FrameKind, []byte) bool) error {
	r := bufio.NewReader(c.stdout)
	for {
		kind, data, err := readFrame(r)
		if err != nil {
			return err
		}
		switch kind {
		case FrameFailed:
			var f Failure
			if err := json.Unmarshal(data, &f); err != nil {
				return errGarbled
			}
			return f.Err()
		case FrameOpened:
			c.opened = true
		case FrameDone:
			take(kind, data)
			return nil
		case FrameKey:
			if !take(kind, data) {
				return nil
			}
		default:
			return errGarbled
		}
	}
}
