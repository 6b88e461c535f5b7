package manager

import (
	"context"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	marker "github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/talos"
)

// recoveredBy asks the etcd of a cluster whether it is the recovered one.
func recoveredBy(plane *controlplane.Access) func(context.Context, *v1alpha1.TalosCluster, *marker.Marker) (marker.Probe, error) {
	return func(ctx context.Context, cluster *v1alpha1.TalosCluster, is *marker.Marker) (marker.Probe, error) {
		bundle, err := plane.Bundle(ctx, cluster)
		if err != nil {
			return marker.Probe{}, err
		}
		return marker.Proven(ctx, &marker.Talos{Bundle: bundle}, is)
	}
}

// probe asks the etcd beside a machine API.
func probe(ctx context.Context, b *talos.Bundle, address string) (marker.Probe, error) {
	return (&marker.Talos{Bundle: b}).Probe(ctx, address)
}
