package backup

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

// Plane reaches the machines of a cluster. An Access of package controlplane is one.
type Plane interface {
	// Bundle is the cluster's secrets bundle; talos.ErrBundle if there is no usable one.
	Bundle(context.Context, *v1alpha1.TalosCluster) (*talos.Bundle, error)
	// Machines are all of the cluster, past any cache.
	Machines(ctx context.Context, namespace, cluster string) ([]v1alpha1.TalosMachine, error)
}

// Source streams a snapshot of one control plane's etcd. Closing it frees all of it.
type Source func(context.Context, *talos.Bundle, *v1alpha1.TalosMachine) (io.ReadCloser, error)

// Stores opens the store of a backup; store.ErrSettings if it cannot be.
type Stores func(context.Context, *v1alpha1.TalosEtcdBackup) (store.Store, error)

// StoresBy reads credentials with a reader that asks the API server itself.
func StoresBy(live client.Reader) Stores {
	return func(ctx context.Context, b *v1alpha1.TalosEtcdBackup) (store.Store, error) {
		return store.FromBackup(ctx, live, b)
	}
}

// SourceBy streams from nodes.
func SourceBy(a *controlplane.Access) Source {
	return func(ctx context.Context, b *talos.Bundle, m *v1alpha1.TalosMachine) (io.ReadCloser, error) {
		node, err := a.Snapshotter(b, m)
		if err != nil {
			return nil, err
		}
		stream, err := node.Snapshot(ctx)
		if err != nil {
			_ = node.Close() // nothing is written through it
			return nil, err
		}
		return &closing{stream, node}, nil
	}
}

// closing closes the node with the stream.
type closing struct {
	io.ReadCloser
	node io.Closer
}

func (c *closing) Close() error {
	err := c.ReadCloser.Close()
	_ = c.node.Close()
	return err
}

// Keys are what a bundle gives for snapshots.
type Keys struct {
	Key         *snapshot.Key
	Authorities snapshot.Fingerprints
	// ClusterID is the Talos cluster's, which tells two of one name apart.
	ClusterID string
}

// KeysOf derives the keys of a cluster's backups from its secrets bundle, which the
// reader gets by its name. It fails with talos.ErrBundle.
func KeysOf(ctx context.Context, live client.Reader, cluster *v1alpha1.TalosCluster) (Keys, error) {
	name := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.SecretsBundleRef.Name}
	secret := &corev1.Secret{}
	switch err := live.Get(ctx, name, secret); {
	case apierrors.IsNotFound(err):
		return Keys{}, fmt.Errorf("Secret %s: %w: there is no such Secret; create it with the output of talosctl gen secrets under the key bundle", name, talos.ErrBundle)
	case err != nil:
		return Keys{}, fmt.Errorf("get Secret %s: %w", name, err)
	}
	key, err := snapshot.DeriveKey(secret.Data["bundle"])
	if err != nil {
		return Keys{}, fmt.Errorf("Secret %s: %w: %w", name, talos.ErrBundle, err)
	}
	authorities, err := snapshot.Authorities(secret.Data["bundle"])
	if err != nil {
		return Keys{}, fmt.Errorf("Secret %s: %w: %w", name, talos.ErrBundle, err)
	}
	id, err := snapshot.ClusterID(secret.Data["bundle"])
	if err != nil {
		return Keys{}, fmt.Errorf("Secret %s: %w: %w", name, talos.ErrBundle, err)
	}
	return Keys{key, authorities, id}, nil
}
