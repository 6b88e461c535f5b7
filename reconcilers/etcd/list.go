package etcd

import (
	"context"
	"errors"

	"github.com/quorate/quorate/api/v1alpha1"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// list asks through the client Service, and where that leads nowhere, the members
// that stay by their own names, since readiness may lag behind, and the source, which
// may be all that is left of a shared cluster. A cluster that had no quorum the last
// time is asked both ways at once: each may take its whole time.
func (c *cycle) list(ctx context.Context) (*etcdclient.View, error) {
	service := []string{c.names.serviceURL()}
	if !isTrue(c.etcd, v1alpha1.ConditionQuorate) {
		return c.firstList(ctx, service, c.byName())
	}
	view, err := c.listAt(ctx, service)
	if final(err) {
		return view, err
	}
	view, own := c.listAt(ctx, c.byName())
	if own == nil {
		return view, nil
	}
	return nil, errors.Join(err, own)
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

// firstList is the first answer that any of the ways gives, or why none did. The others
// are given up then, and have ended when it returns.
func (c *cycle) firstList(ctx context.Context, ways ...[]string) (*etcdclient.View, error) {
	ctx, cancel := context.WithCancel(ctx)
	type answer struct {
		view *etcdclient.View
		err  error
	}
	answers := make(chan answer, len(ways))
	asked := 0
	defer func() {
		cancel()
		for range asked {
			<-answers
		}
	}()
	for _, urls := range ways {
		cluster, err := c.connect(ctx, urls)
		if err != nil {
			return nil, err
		}
		asked++
		go func() {
			view, err := cluster.View(ctx)
			c.end(cluster)
			answers <- answer{view, err}
		}()
	}
	var errs []error
	for range ways {
		a := <-answers
		asked--
		if final(a.err) {
			return a.view, a.err
		}
		errs = append(errs, a.err)
	}
	return nil, errors.Join(errs...)
}
