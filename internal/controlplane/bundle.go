package controlplane

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/talos"
)

// bundleKey is where a Secret holds the bundle, as YAML.
const bundleKey = "bundle"

// kept is the bundle of a Secret as it was at one version.
type kept struct {
	uid     types.UID
	version string
	bundle  *talos.Bundle
}

// Bundle is the cluster's secrets bundle. It fails with talos.ErrBundle if the Secret
// is missing or holds no usable one; an error of the API server is none of those. A
// bundle is parsed once a version of its Secret.
func (a *Access) Bundle(ctx context.Context, cluster *v1alpha1.TalosCluster) (*talos.Bundle, error) {
	name := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.SecretsBundleRef.Name}
	secret := &corev1.Secret{}
	err := a.live.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		a.drop(name)
		return nil, fmt.Errorf("Secret %s: %w: there is no such Secret; create it with the output of talosctl gen secrets under the key %s", name, talos.ErrBundle, bundleKey)
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s: %w", name, err)
	}
	bundle, err := a.parsed(name, secret)
	if err != nil {
		return nil, fmt.Errorf("Secret %s: %w", name, err)
	}
	return bundle, nil
}

func (a *Access) parsed(name types.NamespacedName, secret *corev1.Secret) (*talos.Bundle, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k, ok := a.bundles[name]; ok && k.uid == secret.UID && k.version == secret.ResourceVersion {
		return k.bundle, nil
	}
	delete(a.bundles, name)
	data, ok := secret.Data[bundleKey]
	if !ok {
		return nil, fmt.Errorf("%w: it has no key %s; put the output of talosctl gen secrets there", talos.ErrBundle, bundleKey)
	}
	bundle, err := talos.LoadBundle(data)
	if err != nil {
		return nil, err
	}
	a.bundles[name] = kept{secret.UID, secret.ResourceVersion, bundle}
	return bundle, nil
}

// drop forgets the keys of a Secret that is gone.
func (a *Access) drop(name types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.bundles, name)
}
