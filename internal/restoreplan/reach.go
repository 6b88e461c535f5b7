package restoreplan

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

// bundleKey is where a Secret holds the secrets bundle, as YAML.
const bundleKey = "bundle"

// Reach is Beyond itself: the object store of the backup, and etcd and Talos by the
// cluster's secrets bundle.
type Reach struct {
	store     store.Store
	storeErr  error // why there is none
	bundle    *bundle
	bundleErr error
	machines  []v1alpha1.TalosMachine
	access    *controlplane.Access
	worker    snapshot.Worker
	etcd      *etcd.Client
	// plain is where the snapshot plainOf lies in plain; erase lets go of it.
	plain, plainOf string
	erase          func() error
}

// bundle is a secrets bundle in its three uses.
type bundle struct {
	talos       *talos.Bundle
	key         *snapshot.Key
	authorities restoring.Authorities
}

// Reacher opens what lies beyond, by the Secrets that kube may read. It fails only if
// neither the store's nor the cluster's can be had.
func Reacher(kube client.Reader) Open {
	return func(ctx context.Context, cluster *v1alpha1.TalosCluster, backup *v1alpha1.TalosEtcdBackup, machines []v1alpha1.TalosMachine) (Beyond, error) {
		r := &Reach{machines: machines, access: controlplane.New(kube, talos.Timeouts{})}
		r.store, r.storeErr = store.FromBackup(ctx, kube, backup)
		r.bundle, r.bundleErr = readBundle(ctx, kube, cluster)
		if r.storeErr != nil && r.bundleErr != nil {
			return nil, fmt.Errorf("%w; %w", r.storeErr, r.bundleErr)
		}
		return r, nil
	}
}

func readBundle(ctx context.Context, kube client.Reader, cluster *v1alpha1.TalosCluster) (*bundle, error) {
	name := types.NamespacedName{Namespace: cluster.Namespace, Name: cluster.Spec.SecretsBundleRef.Name}
	secret := &corev1.Secret{}
	err := kube.Get(ctx, name, secret)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: there is no Secret %s", talos.ErrBundle, name)
	}
	if err != nil {
		return nil, fmt.Errorf("get Secret %s: %w", name, err)
	}
	b, err := parseBundle(secret.Data[bundleKey])
	if err != nil {
		return nil, fmt.Errorf("Secret %s: %w", name, err)
	}
	return b, nil
}

func parseBundle(data []byte) (b *bundle, err error) {
	b = &bundle{}
	if b.talos, err = talos.LoadBundle(data); err != nil {
		return nil, err
	}
	if b.key, err = snapshot.DeriveKey(data); err != nil {
		return nil, err
	}
	found, err := snapshot.Authorities(data)
	b.authorities = authoritiesOf(found)
	return b, err
}

func authoritiesOf(f snapshot.Fingerprints) restoring.Authorities {
	return restoring.Authorities{Etcd: f.Etcd, Kubernetes: f.K8s, OS: f.OS}
}

// Secrets implements Beyond.
func (r *Reach) Secrets(context.Context) (Secrets, error) {
	if r.bundleErr != nil {
		return Secrets{}, r.bundleErr
	}
	return Secrets{r.bundle.authorities, r.bundle.key.Fingerprint()}, nil
}

// Now implements Beyond.
func (r *Reach) Now(ctx context.Context) (Now, error) {
	if r.bundleErr != nil {
		return Now{}, r.bundleErr
	}
	view, err := r.access.View(ctx, r.bundle.talos, r.machines, "")
	if err != nil {
		return Now{}, err
	}
	var now Now
	for _, m := range view.Members {
		for _, alarm := range view.Alarms[m.ID] {
			now.Alarms = append(now.Alarms, alarm+" on "+m.Name)
		}
	}
	slices.Sort(now.Alarms)
	var errs []error
	for _, url := range r.etcdURLs() {
		found, err := etcd.Probe(ctx, etcd.Options{Endpoints: []string{url}, TLS: r.bundle.talos.EtcdTLS()})
		if err == nil {
			now.Revision = found.Revision
			return now, nil
		}
		errs = append(errs, err)
	}
	return now, errors.Join(errs...)
}

func (r *Reach) etcdURLs() (urls []string) {
	for i := range r.machines {
		if m := &r.machines[i]; controlplane.Approved(m) {
			urls = append(urls, "https://"+net.JoinHostPort(controlplane.Address(m), strconv.Itoa(etcdPort)))
		}
	}
	return urls
}

// Reported implements Beyond. A machine that does not answer as one of this cluster says
// nothing.
func (r *Reach) Reported(ctx context.Context, m *v1alpha1.TalosMachine) string {
	if r.bundleErr != nil {
		return ""
	}
	node, err := r.access.Dial(r.bundle.talos, m, talos.Reader)
	if err != nil {
		return ""
	}
	defer func() { _ = node.Close() }() // nothing is written through it
	if err := node.VerifyCluster(ctx); err != nil {
		return ""
	}
	name, err := node.NodeName(ctx)
	if err != nil {
		return ""
	}
	return name
}

// Close implements Beyond.
func (r *Reach) Close() error {
	var errs []error
	if r.erase != nil {
		errs = append(errs, r.erase())
	}
	if r.etcd != nil {
		errs = append(errs, r.etcd.Close())
	}
	return errors.Join(errs...)
}
