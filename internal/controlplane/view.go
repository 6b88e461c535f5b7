package controlplane

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// ErrNoControlPlane: no machine of the cluster is an approved control plane, and so
// nobody can be asked.
var ErrNoControlPlane = errors.New("no TalosMachine is an approved control plane")

// ErrOtherCluster: another etcd cluster answers than the recorded one.
var ErrOtherCluster = etcd.ErrOtherCluster

// viewer is what View asks of an etcd client.
type viewer interface {
	View(ctx context.Context) (*etcd.View, error)
	Close() error
}

type dial func(ctx context.Context, o etcd.Options) (viewer, error)

func dialEtcd(ctx context.Context, o etcd.Options) (viewer, error) {
	c, err := etcd.New(ctx, o)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// View is the etcd cluster of these machines at this moment, asked of the approved
// control planes. An empty clusterID accepts any cluster. It fails with
// ErrOtherCluster, with ErrNoControlPlane, and without a quorum.
func (a *Access) View(ctx context.Context, b *talos.Bundle, machines []v1alpha1.TalosMachine, clusterID v1alpha1.HexID) (*etcd.View, error) {
	o := etcd.Options{TLS: b.EtcdTLS()}
	if clusterID != "" {
		id, err := strconv.ParseUint(string(clusterID), 16, 64)
		if err != nil {
			return nil, fmt.Errorf("read the recorded cluster ID: %w", err)
		}
		o.ClusterID = id
	}
	asked := ways(machines)
	if len(asked) == 0 {
		return nil, ErrNoControlPlane
	}
	return a.first(ctx, o, asked)
}

// ways are whom to ask, one after the other: those that stay together, so that one
// that is away costs no time; each of them by itself, as one that is cut off from the
// others answers, but late; then each that is being deleted.
func ways(machines []v1alpha1.TalosMachine) (out [][]string) {
	var stay, alone, leave []string
	for i := range machines {
		m := &machines[i]
		switch {
		case !Approved(m) || Address(m) == "":
		case m.DeletionTimestamp.IsZero():
			stay = append(stay, etcdURL(m))
		default:
			leave = append(leave, etcdURL(m))
		}
	}
	if len(stay) > 0 {
		out = append(out, stay)
	}
	if len(stay) > 1 {
		alone = stay
	}
	for _, url := range append(alone[:len(alone):len(alone)], leave...) {
		out = append(out, []string{url})
	}
	return out
}
