package store

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Keys of the Secret that spec.objectStore.credentialsRef names.
const (
	KeyAccessKeyID     = "accessKeyID"
	KeySecretAccessKey = "secretAccessKey"
	// KeyCA is optional: certificates in PEM, in place of the system's.
	KeyCA = "ca.crt"
)

// FromBackup is the store of a TalosEtcdBackup, with the credentials of its Secret. It
// fails with ErrSettings if Secret or keys are missing or cannot be used; an error of the
// API server is none of those. The store is asked nothing yet.
func FromBackup(ctx context.Context, reader client.Reader, b *v1alpha1.TalosEtcdBackup) (Store, error) {
	o, err := BackupOptions(ctx, reader, b)
	if err != nil {
		return nil, err
	}
	s, err := NewS3(o)
	if err != nil {
		return nil, fmt.Errorf("TalosEtcdBackup %s: %w", client.ObjectKeyFromObject(b), err)
	}
	return s, nil
}

// BackupOptions are what FromBackup makes the store with, for one that must do without
// the API server later.
func BackupOptions(ctx context.Context, reader client.Reader, b *v1alpha1.TalosEtcdBackup) (Options, error) {
	at := b.Spec.ObjectStore
	name := types.NamespacedName{Namespace: b.Namespace, Name: at.CredentialsRef.Name}
	secret := &corev1.Secret{}
	err := reader.Get(ctx, name, secret)
	switch {
	case apierrors.IsNotFound(err):
		return Options{}, fmt.Errorf("%w: there is no Secret %s; create it with the keys %s and %s", ErrSettings, name, KeyAccessKeyID, KeySecretAccessKey)
	case err != nil:
		return Options{}, fmt.Errorf("get Secret %s: %w", name, err)
	}
	for _, key := range []string{KeyAccessKeyID, KeySecretAccessKey} {
		if len(secret.Data[key]) == 0 {
			return Options{}, fmt.Errorf("%w: Secret %s has no key %s; put the store's credentials there", ErrSettings, name, key)
		}
	}
	return Options{
		Endpoint: at.Endpoint, Region: at.Region, Bucket: at.Bucket, Prefix: at.Prefix,
		AccessKeyID: string(secret.Data[KeyAccessKeyID]), SecretAccessKey: string(secret.Data[KeySecretAccessKey]), CA: secret.Data[KeyCA],
	}, nil
}
