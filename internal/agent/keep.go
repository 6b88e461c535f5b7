package agent

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/quorate/quorate/guard/rejoin"
)

// keepEvery is how often a member without a WAL is looked at again.
const keepEvery = 2 * time.Second

// Keep keeps etcd's configuration true while the pod lives: a container that is
// started again is not prepared again. Once there is a WAL, the configuration is one
// that can start no other cluster, should the WAL be lost; before, it has the
// members that are listed now, without whom etcd would not start. It ends when
// there is a WAL, or no configuration to keep.
func (a *Agent) Keep(ctx context.Context) {
	for ctx.Err() == nil {
		done, err := a.keep(ctx)
		if done {
			return
		}
		if err != nil && ctx.Err() == nil {
			a.Log.Info("the member has no WAL yet", "because", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(keepEvery):
		}
	}
}

func (a *Agent) keep(ctx context.Context) (done bool, err error) {
	written, err := os.ReadFile(a.EtcdConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	c, id, err := a.load()
	if err != nil {
		return false, err
	}
	if rejoin.ReadDisk(c.DataDir).State == rejoin.HasWAL {
		return true, a.rewrite(c, id, c.restart(id), written)
	}
	j, err := c.Judge(ctx, id, a.Witnesses, a.ListTimeout)
	if err != nil {
		return false, err
	}
	if j.Action == rejoin.StartAsListed {
		return false, a.rewrite(c, id, c.joining(id, j.Facts.Live.Members), written)
	}
	return false, j.Refusal()
}

func (a *Agent) rewrite(c *Config, id Identity, s start, written []byte) error {
	content, err := c.etcdConfig(id, s)
	if err != nil || bytes.Equal(content, written) {
		return err
	}
	return replaceFile(a.EtcdConfig, content)
}
