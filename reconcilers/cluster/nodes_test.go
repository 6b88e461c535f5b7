package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// plane is the control plane of the world.
type plane struct{ *world }

func (p plane) Bundle(ctx context.Context, _ *v1alpha1.TalosCluster) (*talos.Bundle, error) {
	return &talos.Bundle{}, p.bounded(ctx, "bundle", func() error { return p.bundleErr })
}

func (p plane) Machines(ctx context.Context, namespace, cluster string) (out []v1alpha1.TalosMachine, err error) {
	err = p.bounded(ctx, "machines", func() error {
		out, err = controlplane.New(p.api, talos.Timeouts{}).Machines(ctx, namespace, cluster)
		return err
	})
	return out, err
}

func (p plane) View(ctx context.Context, _ *talos.Bundle, machines []v1alpha1.TalosMachine, clusterID v1alpha1.HexID) (*etcd.View, error) {
	var v *etcd.View
	err := p.bounded(ctx, "view", func() error {
		switch {
		case p.viewErr != nil:
			return p.viewErr
		case !slices.ContainsFunc(machines, func(m v1alpha1.TalosMachine) bool { return controlplane.Approved(&m) }):
			return controlplane.ErrNoControlPlane
		case clusterID != "" && string(clusterID) != hexOf(p.id):
			return fmt.Errorf("list: %w: %x, and not %s", controlplane.ErrOtherCluster, p.id, clusterID)
		}
		v = &etcd.View{ClusterID: p.id, Members: slices.Clone(p.members), Complaints: maps.Clone(map[uint64]string{})}
		return nil
	})
	return v, err
}

func (w *world) dial(_ *talos.Bundle, m *v1alpha1.TalosMachine, r talos.Role) (Node, error) {
	if r != talos.Admin {
		return nil, errors.New("only an admin may remove a member")
	}
	return node{w, m.Name}, nil
}

// node is the machine API of a control plane of that name.
type node struct {
	w    *world
	name string
}

func (n node) call(ctx context.Context, what string, do func() error) error {
	return n.w.bounded(ctx, what+" "+n.name, do)
}

func (n node) VerifyCluster(ctx context.Context) error {
	return n.call(ctx, "verify", func() error { return nil })
}

func (n node) Members(ctx context.Context) (out []talos.Member, err error) {
	return out, n.call(ctx, "members", func() error {
		for _, m := range n.w.members {
			out = append(out, talos.Member{ID: m.ID, Hostname: m.Name, PeerURLs: m.PeerURLs})
		}
		return nil
	})
}

// RemoveMember notes each removal that reaches etcd, of one that is not there too.
func (n node) RemoveMember(ctx context.Context, id uint64) error {
	return n.call(ctx, "remove", func() error {
		n.w.removals = append(n.w.removals, id)
		n.w.members = slices.DeleteFunc(n.w.members, func(m guard.Member) bool { return m.ID == id })
		return nil
	})
}

func (node) Close() error { return nil }
