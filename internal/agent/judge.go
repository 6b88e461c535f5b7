package agent

import (
	"context"
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

// Judge looks at disk and cluster once. It fails with ErrConfig alone.
func (c *Config) Judge(ctx context.Context, id Identity, w Witnesses, timeout time.Duration) (Judgement, error) {
	f := rejoin.Facts{Self: c.self(id), Disk: rejoin.ReadDisk(c.DataDir), Ledger: c.Ledger}
	wanted := f.Self.ClusterID
	if f.Disk.State == rejoin.HasWAL {
		wanted = f.Disk.ClusterID
	}
	var err error
	if f.Live, err = c.list(ctx, timeout, wanted); err != nil {
		return Judgement{}, err
	}
	for {
		v := rejoin.Judge(f)
		switch v.Action {
		case rejoin.AskTombstone:
			f.Tombstone = w.Tombstone(ctx, c.DataDir, f.Disk.MemberID)
		case rejoin.AskLog:
			f.Logged = w.Log(ctx, c.DataDir, f.Disk.MemberID)
		default:
			return Judgement{v, f}, nil
		}
	}
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
