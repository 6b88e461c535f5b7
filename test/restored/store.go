package restored

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/s3"
)

// Backup is the name of the backup that StartStore declares.
const Backup = "nightly"

// StartStore runs an object store with its files under dir, and declares the backup that
// keeps snapshots there. The caller stops it.
func (w *World) StartStore(ctx context.Context, dir string) (*s3.Server, error) {
	binary, err := s3.Binary(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	server, err := s3.Start(ctx, binary, dir)
	if err != nil {
		return nil, err
	}
	if err := w.declareStore(ctx, server, server.Endpoint); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// declareStore declares the backup in a store that is reached at a URL.
func (w *World) declareStore(ctx context.Context, server *s3.Server, at string) error {
	s := server.Options(Cluster)
	return w.DeclareBackup(ctx, Backup, "@daily", v1alpha1.ObjectStore{Endpoint: at, Region: s.Region, Bucket: s.Bucket, Prefix: s.Prefix},
		map[string]string{"accessKeyID": s.AccessKeyID, "secretAccessKey": s.SecretAccessKey})
}

// TakeBackup asks for a snapshot, and waits until it is listed, and so proved.
func (w *World) TakeBackup(ctx context.Context, name string) (snapshot string, err error) {
	request, b := rand.Text(), &v1alpha1.TalosEtcdBackup{ObjectMeta: named(name)}
	err = cluster.Until(ctx, "the request of a backup", func(ctx context.Context) error {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		changed := b.DeepCopy()
		metav1.SetMetaDataAnnotation(&changed.ObjectMeta, v1alpha1.AnnotationBackupRequested, request)
		return w.Client.Patch(ctx, changed, client.MergeFrom(b))
	})
	if err != nil {
		return "", err
	}
	err = cluster.Until(ctx, "the backup", func(ctx context.Context) error {
		if err := w.Client.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.ObservedBackupRequest != request || len(b.Status.Snapshots) == 0 {
			return fmt.Errorf("%w: %+v", errNotYet, b.Status.Conditions)
		}
		snapshot = b.Status.Snapshots[0].Name
		return nil
	})
	return snapshot, err
}
