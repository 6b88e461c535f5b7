package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/quorate/quorate/test/cluster"
)

var errLost = errors.New("an acknowledged write is lost")

// ledger writes keys that nobody else touches, each once, and knows which of them were
// acknowledged: all but those of unknown outcome.
type ledger struct {
	name    string
	etcd    clientv3.KV
	meter   *meter
	tried   int
	unknown map[int]bool
}

func (l *ledger) prefix() string { return "/ledger/" + l.name + "/" }

// key has a fixed width, so that keys sort as their numbers do.
func (l *ledger) key(n int) string { return fmt.Sprintf("%s%09d", l.prefix(), n) }

func (l *ledger) acknowledged() int { return l.tried - len(l.unknown) }

func (l *ledger) run(ctx context.Context) {
	tick := time.NewTicker(clientEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			l.turn()
		}
	}
}

func (l *ledger) turn() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	n := l.tried
	l.tried++
	if _, err := l.etcd.Put(ctx, l.key(n), ""); err != nil {
		l.unknown[n] = true
		return
	}
	l.meter.acknowledged()
}

const page = 2000

// check wants every acknowledged key to be there.
func (l *ledger) check(ctx context.Context) error {
	missing := map[int]bool{}
	for n := range l.tried {
		if !l.unknown[n] {
			missing[n] = true
		}
	}
	from, end := l.prefix(), clientv3.GetPrefixRangeEnd(l.prefix())
	for {
		got, err := l.etcd.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(page), clientv3.WithKeysOnly())
		if err != nil {
			return fmt.Errorf("read the ledger %s: %w", l.name, err)
		}
		for _, kv := range got.Kvs {
			n, err := strconv.Atoi(strings.TrimPrefix(string(kv.Key), l.prefix()))
			if err != nil {
				return fmt.Errorf("read the ledger %s: %w", l.name, err)
			}
			delete(missing, n)
			from = string(kv.Key) + "\x00"
		}
		if !got.More {
			break
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %d of %d keys of %s", errLost, len(missing), l.acknowledged(), l.prefix())
	}
	return nil
}

// check wants the keys of all judged rounds to be as they were then.
func (a *auditor) check(ctx context.Context) error {
	for _, kept := range a.kept {
		for key, values := range kept {
			got, err := a.look(ctx, key)
			if err != nil {
				return err
			}
			if !slices.Contains(values, got) {
				return fmt.Errorf("%w: %s is %q, want one of %q", errLost, key, got, values)
			}
		}
	}
	return nil
}

// lookIn reads with a client, again and again until there is an answer.
func lookIn(etcd clientv3.KV) lookup {
	return func(ctx context.Context, key string) (value string, err error) {
		err = cluster.Until(ctx, "an answer", func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			out, err := ask(ctx, etcd, request{key: key, do: read})
			value = out.value
			return err
		})
		return value, err
	}
}
