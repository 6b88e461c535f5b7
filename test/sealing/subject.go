package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"filippo.io/age"
)

// Names of files in the folder that is measured in.
const (
	plainName    = "snapshot"
	identityName = "identity"
	theirName    = "theirs.age"
	ageName      = "age"
)

// subject is a snapshot, and who encrypts it.
type subject struct {
	dir, self, recipient string
}

func newSubject(ctx context.Context, dir string) (*subject, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, fmt.Errorf("make a key for age: %w", err)
	}
	s := &subject{dir: dir, self: self, recipient: identity.Recipient().String()}
	if err := os.WriteFile(s.path(identityName), []byte(identity.String()+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("make a key for age: %w", err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", s.path(ageName), "filippo.io/age/cmd/age")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build age: %w: %s", err, bytes.TrimSpace(out))
	}
	return s, s.fill()
}

func (s *subject) path(name string) string { return filepath.Join(s.dir, name) }

// fill writes random bytes, as a snapshot of Secrets would be, with their sum behind them.
func (s *subject) fill() (err error) {
	file, err := os.Create(s.path(plainName))
	if err != nil {
		return fmt.Errorf("make a snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	sum := sha256.New()
	if _, err := io.CopyN(io.MultiWriter(file, sum), rand.Reader, dataMiB<<20); err != nil {
		return fmt.Errorf("make a snapshot: %w", err)
	}
	if _, err := file.Write(sum.Sum(nil)); err != nil {
		return fmt.Errorf("make a snapshot: %w", err)
	}
	return file.Sync()
}

// Pipelines for a shell whose folder is the subject's. What ours writes is on disk at
// the end, so theirs is too.
const (
	sealPipe   = `tee plain.pipe < snapshot | ./age -r "$1" | tee theirs.age | sha256sum > cipher.sum && sync theirs.age`
	alonePipe  = `./age -r "$1" -o theirs.age snapshot && sync theirs.age`
	verifyPipe = `tee cipher.pipe < theirs.age | ./age -d -i identity | sha256sum > plain.sum`
	// beside sums what passes a pipe that has a name, at the same time.
	beside = `set -e; rm -f %[1]s; mkfifo %[1]s; sha256sum < %[1]s > %[1]s.sum & `
)

// theirs runs a pipeline; fifo is "" for one without a sum beside it.
func (s *subject) theirs(ctx context.Context, pipe, fifo string) (float64, error) {
	script := "set -e; " + pipe
	if fifo != "" {
		script = fmt.Sprintf(beside, fifo) + pipe + "; wait"
	}
	began := time.Now()
	cmd := exec.CommandContext(ctx, "sh", "-c", script, "sh", s.recipient)
	cmd.Dir = s.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("run age: %w: %s", err, bytes.TrimSpace(out))
	}
	return time.Since(began).Seconds(), nil
}

// round measures all once, in turn.
func (s *subject) round(ctx context.Context, out *sides) error {
	for _, side := range []struct {
		seconds    *[]float64
		pipe, fifo string
	}{{&out.SealAlone, alonePipe, ""}, {&out.SealAge, sealPipe, "plain.pipe"}, {&out.VerifyAge, verifyPipe, "cipher.pipe"}} {
		took, err := s.theirs(ctx, side.pipe, side.fifo)
		if err != nil {
			return err
		}
		*side.seconds = append(*side.seconds, took)
	}
	for _, side := range []struct {
		role          string
		seconds, peak *[]float64
	}{{sealRole, &out.Seal, &out.SealPeak}, {verifyRole, &out.Verify, &out.VerifyPeak}} {
		took, peak, err := s.ours(ctx, side.role)
		if err != nil {
			return err
		}
		*side.seconds, *side.peak = append(*side.seconds, took), append(*side.peak, peak)
	}
	return nil
}
