package restored

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// DeclareBackup makes a TalosEtcdBackup of the cluster and the Secret with the store's
// credentials, whose keys are those that the API names: accessKeyID, secretAccessKey and
// perhaps ca.crt. The store is a process outside of the cluster.
func (w *World) DeclareBackup(ctx context.Context, name, schedule string, at v1alpha1.ObjectStore, credentials map[string]string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	at.CredentialsRef = v1alpha1.LocalRef{Name: name + "-store"}
	for _, o := range []client.Object{
		&corev1.Secret{ObjectMeta: named(at.CredentialsRef.Name), StringData: credentials},
		&v1alpha1.TalosEtcdBackup{ObjectMeta: named(name), Spec: v1alpha1.TalosEtcdBackupSpec{
			ClusterRef: v1alpha1.LocalRef{Name: Cluster}, Schedule: schedule, ObjectStore: at,
		}},
	} {
		if err := w.Client.Create(ctx, o); err != nil {
			return fmt.Errorf("declare the backup %s: %w", name, err)
		}
	}
	return nil
}
