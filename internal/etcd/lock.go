package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/client/v3/concurrency"
)

// LockKey is the one key that is reserved in a cluster that several Etcds share.
const LockKey = "/quorate.dev/membership"

// ErrLocked: another holder changes the membership.
var ErrLocked = errors.New("the membership lock is held")

// lockSeconds is how long the lock outlives a holder that is gone. It is longer than
// the one call that is made under it.
const lockSeconds = 30

// Lock takes the membership lock if it is free, and ErrLocked if not. It is released
// by unlock, and by itself some seconds after its holder is gone.
func (c *Client) Lock(ctx context.Context) (unlock func() error, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
	defer cancel()
	session, err := concurrency.NewSession(c.etcd, concurrency.WithTTL(lockSeconds))
	if err != nil {
		return nil, fmt.Errorf("open a session for the membership lock: %w", err)
	}
	err = concurrency.NewMutex(session, LockKey).TryLock(ctx)
	if err == nil {
		// The lease goes, and with it the lock.
		return func() error { return closeIn(session, c.options.CallTimeout) }, nil
	}
	closed := closeIn(session, c.options.CallTimeout)
	if errors.Is(err, concurrency.ErrLocked) {
		return nil, ErrLocked
	}
	return nil, errors.Join(fmt.Errorf("take the membership lock: %w", err), closed)
}

func closeIn(session *concurrency.Session, limit time.Duration) error {
	done := make(chan error, 1)
	go func() { done <- session.Close() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("give the membership lock back: %w", context.DeadlineExceeded)
	}
}
