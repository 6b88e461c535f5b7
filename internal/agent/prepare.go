package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/guard/rejoin"
)

// Agent acts for one member.
type Agent struct {
	// ConfigFile is read anew before each look: what a member waits for may be in a
	// newer one.
	ConfigFile string
	// Name is the member's name, with its ordinal.
	Name string
	// EtcdConfig is where etcd's configuration is written.
	EtcdConfig  string
	Witnesses   Witnesses
	ListTimeout time.Duration
	// Patience bounds a wait.
	Patience time.Duration
	Log      *slog.Logger
}

// The pauses of a wait.
const (
	firstPause = time.Second
	lastPause  = 10 * time.Second
)

// errNotYet is an answer of the cluster that changes by itself.
var errNotYet = errors.New("not yet")

// Prepare decides how the member starts and writes etcd's configuration. Where it
// is refused, the error is that of its verdict; ErrWaited if what it waits for has
// not come about.
func (a *Agent) Prepare(ctx context.Context) error {
	began, pause := time.Now(), firstPause
	for {
		done, err := a.try(ctx)
		var passing refusal
		switch {
		case done:
			return err
		case err == nil:
			continue
		case errors.As(err, &passing) && passing.verdict.MayPass:
		case !errors.Is(err, errNotYet):
			return err
		}
		if waited := time.Since(began); a.Patience-waited < pause {
			return overdue(waited, err)
		}
		a.Log.Info("the member waits", "for", err, "again", pause)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// overdue ends a wait: a refusal that did not pass stays what it is.
func overdue(waited time.Duration, err error) error {
	if errors.Is(err, errNotYet) {
		return fmt.Errorf("%w (%s): %w", ErrWaited, waited.Round(time.Second), err)
	}
	return err
}

// try looks once. It is done when etcd may start; without an error it is to be
// called again at once.
func (a *Agent) try(ctx context.Context) (done bool, err error) {
	c, id, err := a.load()
	if err != nil {
		return false, err
	}
	j, err := c.Judge(ctx, id, a.Witnesses, a.ListTimeout)
	if err != nil {
		return false, err
	}
	a.Log.Info("verdict", "action", j.Action, "by", j.By, "reason", j.Reason)
	switch j.Action {
	case rejoin.Refuse:
		return false, j.Refusal()
	case rejoin.Wait:
		return false, fmt.Errorf("%w: %s", errNotYet, j.Reason)
	case rejoin.Join:
		return false, c.join(ctx, id, j.Facts.Live, a.ListTimeout)
	case rejoin.Start:
		return true, a.restart(c, id, j.By == rejoin.ByList)
	case rejoin.StartAsFounder:
		return true, a.begin(ctx, c, id, c.founding())
	case rejoin.StartAsListed:
		return true, a.begin(ctx, c, id, c.joining(id, j.Facts.Live.Members))
	}
	return false, fmt.Errorf("verdict %q: %w", j.Action, errors.ErrUnsupported)
}

// restart is for a disk with a WAL. The list has confirmed whose it is, or it is
// not written down.
func (a *Agent) restart(c *Config, id Identity, confirmed bool) error {
	if confirmed {
		if err := c.own(id); err != nil {
			return err
		}
	}
	return a.write(c, id, c.restart(id))
}

// begin is for an empty disk.
func (a *Agent) begin(ctx context.Context, c *Config, id Identity, s start) error {
	if err := c.clear(ctx, a.Witnesses); err != nil {
		return err
	}
	if err := c.own(id); err != nil {
		return err
	}
	return a.write(c, id, s)
}

func (a *Agent) write(c *Config, id Identity, s start) error {
	content, err := c.etcdConfig(id, s)
	if err != nil {
		return err
	}
	return replaceFile(a.EtcdConfig, content)
}

func (a *Agent) load() (*Config, Identity, error) {
	c, err := Load(a.ConfigFile)
	if err != nil {
		return nil, Identity{}, err
	}
	id, err := c.Identify(a.Name)
	if err != nil {
		return nil, Identity{}, err
	}
	return c, id, c.checkDataDir()
}

// join adds the member as a learner; the next look finds the entry and starts as
// it. etcd allows one learner at a time, and no change while a member is ill.
func (c *Config) join(ctx context.Context, id Identity, live rejoin.Live, timeout time.Duration) error {
	err := c.through(ctx, live, timeout, func(ctx context.Context, cluster clientv3.Cluster) error {
		_, err := cluster.MemberAddAsLearner(ctx, id.PeerURLs)
		return err
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrTooManyLearners):
		return fmt.Errorf("%w: another learner must be promoted first", errNotYet)
	}
	return fmt.Errorf("%w: join as a learner: %w", errNotYet, err)
}
