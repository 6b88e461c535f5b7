package etcds

import (
	"context"
	"crypto/tls"
	"fmt"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/test/cluster"
)

func (p *plant) scheme() string {
	if p.tls != nil {
		return "https"
	}
	return "http"
}

// service and member are client URLs.
func (p *plant) service() string {
	return fmt.Sprintf("%s://%s.%s.svc:2379", p.scheme(), p.name, p.ns)
}

func (p *plant) member(ordinal int) string {
	return fmt.Sprintf("%s://%s.%s-peer.%s.svc:2379", p.scheme(), p.pod(ordinal), p.name, p.ns)
}

func (p *plant) pod(ordinal int) string { return fmt.Sprintf("%s-%d", p.name, ordinal) }

func (p *plant) claim(ordinal int) string { return "data-" + p.pod(ordinal) }

// client is a person's, at the given URLs; the Service's if there are none.
func (p *plant) client(urls ...string) *clientv3.Client {
	p.t.Helper()
	if len(urls) == 0 {
		urls = []string{p.service()}
	}
	c, err := clientv3.New(clientv3.Config{Endpoints: urls, TLS: p.tls, Logger: zap.NewNop(), DialTimeout: 5 * time.Second})
	must(p.t, err)
	p.t.Cleanup(func() { _ = c.Close() }) // nothing is written by closing it
	return c
}

// view is the live list, as the controller reads it. A Service leads to a member that
// has just left for a moment longer.
func (p *plant) view() (v *etcd.View) {
	p.t.Helper()
	must(p.t, cluster.Until(p.t.Context(), "the member list", func(ctx context.Context) (err error) {
		v, err = viewAt(ctx, p.tls, p.service())
		return err
	}))
	return v
}

func viewAt(ctx context.Context, config *tls.Config, urls ...string) (*etcd.View, error) {
	c, err := etcd.New(ctx, etcd.Options{Endpoints: urls, TLS: config})
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }()
	return c.View(ctx)
}

func (p *plant) names() (names []string) {
	for _, m := range p.view().Members {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return names
}

// leader is the member that leads now.
func (p *plant) leader() guard.Member {
	p.t.Helper()
	var leader guard.Member
	must(p.t, cluster.Until(p.t.Context(), "a leader", func(context.Context) error {
		for _, m := range p.view().Members {
			if m.Leader {
				leader = m
				return nil
			}
		}
		return errNotYet
	}))
	return leader
}

// lead moves leadership to an ordinal.
func (p *plant) lead(ordinal int) {
	p.t.Helper()
	v := p.view()
	i := slices.IndexFunc(v.Members, func(m guard.Member) bool { return m.Name == p.pod(ordinal) })
	from := p.leader()
	if from.ID == v.Members[i].ID {
		return
	}
	_, err := p.client(v.ClientURLs[from.ID]...).MoveLeader(p.t.Context(), v.Members[i].ID)
	must(p.t, err)
}

// keys is how many each put writes.
const keys = 50

// put writes keys with a prefix and remembers that they were acknowledged.
func (p *plant) put(prefix string) {
	p.t.Helper()
	c := p.client()
	for i := range keys {
		p.answered(func(ctx context.Context) error {
			_, err := c.Put(ctx, fmt.Sprintf("/%s/%d", prefix, i), prefix)
			return err
		})
	}
	p.written = append(p.written, prefix)
}

// kept checks that every acknowledged key is there.
func (p *plant) kept() {
	p.t.Helper()
	c := p.client()
	for _, prefix := range p.written {
		p.answered(func(ctx context.Context) error {
			r, err := c.Get(ctx, "/"+prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
			if err == nil && r.Count != keys {
				p.t.Errorf("%d keys of %s, want %d", r.Count, prefix, keys)
			}
			return err
		})
	}
}

// answered asks again until etcd answers: see view.
func (p *plant) answered(call func(context.Context) error) {
	p.t.Helper()
	must(p.t, cluster.Until(p.t.Context(), "an answer of etcd", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return call(ctx)
	}))
}
