package etcd

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// join records the source's cluster before anything of this Etcd starts: its ID, so
// that nothing else can be joined, and the listed members that it really has, so that
// they are known from the first own voter on.
func (c *cycle) join(ctx context.Context) error {
	source := c.joining()
	if source == nil {
		return nil
	}
	setCondition(c.etcd, v1alpha1.ConditionBootstrappedWithExistingCluster, false, v1alpha1.ReasonJoining, "Members have yet to join the source's cluster.", c.now())
	if c.etcd.Status.ClusterID != "" {
		return nil
	}
	view, err := c.listAt(ctx, urlsOf(source.ClientEndpoints))
	if err != nil {
		code := v1alpha1.ErrListMembers
		if errors.Is(err, errTLS) {
			code = v1alpha1.ErrReadTLS
		}
		c.fail(code, "the source does not answer, and nothing is started before it does: "+oneLine(err))
		c.soon(busy)
		return nil
	}
	c.etcd.Status.ClusterID = v1alpha1.HexID(strconv.FormatUint(view.ClusterID, 16))
	c.etcd.Status.BootstrapWithExistingClusterMembers = joined(c.etcd.Status.BootstrapWithExistingClusterMembers, source.Members, view, c.places())
	return c.persist(ctx)
}

// sourceUnknown holds the pods back until the source has answered once.
func (c *cycle) sourceUnknown() bool { return c.joining() != nil && c.etcd.Status.ClusterID == "" }

// joined adds the listed source members that the live list has, by name and peer URL,
// to those that are recorded. An own member is none of them.
func joined(recorded, listed []v1alpha1.BootstrapMember, view *etcdclient.View, own []guard.Own) []v1alpha1.BootstrapMember {
	out := slices.Clone(recorded)
	for _, m := range listed {
		known := slices.ContainsFunc(out, func(r v1alpha1.BootstrapMember) bool { return r.Name == m.Name })
		if known || len(guard.BootstrapCandidates(view.Members, []guard.Source{sourceOf(m)}, nil, own)) == 0 {
			continue
		}
		out = append(out, *m.DeepCopy())
	}
	return out
}

func sourceOf(m v1alpha1.BootstrapMember) guard.Source {
	return guard.Source{Name: m.Name, PeerURLs: urlsOf(m.PeerURLs)}
}

func urlsOf(urls []v1alpha1.URL) []string {
	var out []string
	for _, u := range urls {
		out = append(out, string(u))
	}
	return out
}
