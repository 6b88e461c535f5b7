package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/quorate/quorate/guard/rejoin"
)

// Witnesses reads what a disk says: of its member's removal, and whether its
// database has anything in it.
type Witnesses interface {
	Applied(ctx context.Context, dataDir string) rejoin.Witness
	Tombstone(ctx context.Context, dataDir string, id rejoin.ID) rejoin.Witness
	Log(ctx context.Context, dataDir string, id rejoin.ID) rejoin.Witness
}

// Judgement is a verdict with the facts that it is made of.
type Judgement struct {
	rejoin.Verdict
	Facts rejoin.Facts
}

// witnessTimeout bounds each witness: a disk that hangs is one that cannot be read.
const witnessTimeout = 30 * time.Second

// Judge looks at disk and cluster once. It fails with ErrConfig, or when the
// context ends: what could not be asked then is no witness that cannot be read.
func (c *Config) Judge(ctx context.Context, id Identity, w Witnesses, timeout time.Duration) (Judgement, error) {
	disk := rejoin.ReadDisk(c.DataDir)
	disk.Name = c.ownerOnDisk()
	f := rejoin.Facts{Self: c.self(id, disk.MemberID), Disk: disk, Ledger: c.Ledger}
	var err error
	if f.Live, err = c.list(ctx, timeout, f.Wanted()); err != nil {
		return Judgement{}, err
	}
	for {
		v := rejoin.Judge(f)
		if !c.testify(ctx, w, v.Action, &f) {
			return Judgement{v, f}, nil
		}
		if ctx.Err() != nil {
			return Judgement{}, fmt.Errorf("judge the member: %w", context.Cause(ctx))
		}
	}
}

// testify asks the witness that the verdict depends on, if there is one.
func (c *Config) testify(ctx context.Context, w Witnesses, action rejoin.Action, f *rejoin.Facts) bool {
	ctx, cancel := context.WithTimeout(ctx, witnessTimeout)
	defer cancel()
	switch action {
	case rejoin.AskTombstone:
		f.Tombstone = w.Tombstone(ctx, c.DataDir, f.Disk.MemberID)
	case rejoin.AskLog:
		f.Logged = w.Log(ctx, c.DataDir, f.Disk.MemberID)
	case rejoin.AskApplied:
		f.Applied = w.Applied(ctx, c.DataDir)
	default:
		return false
	}
	return true
}

// Refusal is the error of a verdict that refuses, nil of any other.
func (j Judgement) Refusal() error {
	if j.Action != rejoin.Refuse {
		return nil
	}
	return refusal{j.Verdict}
}

// Check judges once and changes nothing.
func (a *Agent) Check(ctx context.Context) (Judgement, error) {
	c, id, err := a.load()
	if err != nil {
		return Judgement{}, err
	}
	return c.Judge(ctx, id, a.Witnesses, a.ListTimeout)
}
