package etcd

import (
	"context"
	"fmt"
	"iter"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// keysPage is how many keys are asked for at once.
const keysPage = 1000

// Keys are those that begin with prefix, sorted, all at the revision of the first
// answer. Values are not read. An error is the last that it gives; one is that the
// revision was compacted meanwhile.
func (c *Client) Keys(ctx context.Context, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		from, revision := prefix, int64(0)
		for {
			page, err := c.keysFrom(ctx, from, prefix, revision)
			if err != nil {
				yield("", fmt.Errorf("list the keys of etcd: %w", err))
				return
			}
			for _, kv := range page.Kvs {
				from = string(kv.Key)
				if !yield(from, nil) {
					return
				}
			}
			if !page.More {
				return
			}
			if revision == 0 {
				revision = page.Header.Revision
			}
			from += "\x00" // the next key that there can be
		}
	}
}

func (c *Client) keysFrom(ctx context.Context, from, prefix string, revision int64) (*clientv3.GetResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.CallTimeout)
	defer cancel()
	return c.etcd.Get(ctx, from, clientv3.WithRange(clientv3.GetPrefixRangeEnd(prefix)), clientv3.WithKeysOnly(),
		clientv3.WithLimit(keysPage), clientv3.WithRev(revision), clientv3.WithSort(clientv3.SortByKey, clientv3.SortAscend))
}
