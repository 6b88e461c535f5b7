package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

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
		if done || (err != nil && !errors.Is(err, errNotYet)) {
			return err
		}
		if err == nil {
			continue
		}
		if waited := time.Since(began); a.Patience-waited < pause {
			return fmt.Errorf("%w (%s): %w", ErrWaited, waited.Round(time.Second), err)
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
		return true, a.write(c, id, c.restart(id))
	case rejoin.StartAsFounder:
		return true, a.begin(ctx, c, id, c.founding())
	case rejoin.StartAsListed:
		return true, a.begin(ctx, c, id, c.joining(id, j.Facts.Live.Members))
	}
	return false, fmt.Errorf("verdict %q: %w", j.Action, errors.ErrUnsupported)
}

// begin is for an empty disk.
func (a *Agent) begin(ctx context.Context, c *Config, id Identity, s start) error {
	if err := c.clear(ctx, a.Witnesses); err != nil {
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
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := c.connect(ctx, live.Voters()...)
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.MemberAddAsLearner(ctx, id.PeerURLs)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rpctypes.ErrTooManyLearners):
		return fmt.Errorf("%w: another learner must be promoted first", errNotYet)
	}
	return fmt.Errorf("%w: join as a learner: %w", errNotYet, err)
}
