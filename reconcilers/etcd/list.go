package etcd

import (
	"context"
	"errors"
	"time"

	"github.com/quorate/quorate/api/v1alpha1"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// serviceFor is how long the client Service may take before the members are asked by
// their own names as well: an answer takes milliseconds, and a Service without
// endpoints gives none until the deadline.
const serviceFor = time.Second

// list asks through the client Service, and where that does not answer, the members
// that stay by their own names, since readiness may lag behind, and the source, which
// may be all that is left of a shared cluster. A cluster that had no quorum the last
// time is asked both ways at once: each may take its whole time.
func (c *cycle) list(ctx context.Context) (*etcdclient.View, error) {
	after := serviceFor
	if !isTrue(c.etcd, v1alpha1.ConditionQuorate) {
		after = 0
	}
	return c.firstList(ctx, after, []string{c.names.serviceURL()}, c.byName())
}

// final tells whether another way to ask would not help.
func final(err error) bool {
	return err == nil || errors.Is(err, etcdclient.ErrOtherCluster) || errors.Is(err, errTLS)
}

// byName are the client URLs of those that stay, and of the source.
func (c *cycle) byName() []string {
	var urls []string
	for _, p := range c.names.places(max(c.replicas(), 1)) {
		urls = append(urls, c.names.clientURL(p.Name))
	}
	if b := c.names.settings().BootstrapWithExistingCluster; b != nil && c.etcd.Status.ClusterID != "" {
		urls = append(urls, urlsOf(b.ClientEndpoints)...)
	}
	return urls
}

// firstList is the first answer that any of the ways gives, or why none did. The next
// way is tried when the one before it has failed, or has not answered for a while. The
// others are given up then, and have ended when it returns.
func (c *cycle) firstList(ctx context.Context, after time.Duration, ways ...[]string) (*etcdclient.View, error) {
	ctx, cancel := context.WithCancel(ctx)
	answers := make(chan answer, len(ways))
	open := 0
	defer func() {
		cancel()
		for range open {
			<-answers
		}
	}()
	var errs []error
	late := time.NewTimer(0)
	defer late.Stop()
	for len(ways) > 0 || open > 0 {
		select {
		case a := <-answers:
			open--
			if final(a.err) {
				return a.view, a.err
			}
			errs = append(errs, a.err)
			late.Reset(0)
		case <-late.C:
			if len(ways) == 0 {
				continue
			}
			cluster, err := c.connect(ctx, ways[0])
			if err != nil {
				return nil, err
			}
			open, ways = open+1, ways[1:]
			go func() { answers <- c.answer(ctx, cluster) }()
			late.Reset(after)
		}
	}
	return nil, errors.Join(errs...)
}

// answer is that of one way.
type answer struct {
	view *etcdclient.View
	err  error
}

func (c *cycle) answer(ctx context.Context, cluster Cluster) answer {
	view, err := cluster.View(ctx)
	c.end(cluster)
	return answer{view, err}
}
