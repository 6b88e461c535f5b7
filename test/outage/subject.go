package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
	"github.com/quorate/quorate/test/restored"
	"github.com/quorate/quorate/test/s3"
)

const backup = "nightly"

// founder is the machine that etcd is recovered on, by either side.
const founder = "cp-1"

// errNotYet says that something will be so.
var errNotYet = errors.New("not yet")

// subject is the cluster that is restored.
type subject struct {
	*restored.World
	// snapshot is the backup that the product restores, content what a hand does.
	snapshot string
	content  []byte
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: restored.Namespace, Name: name}
}

// begin takes the snapshot that the product restores in all rounds.
func (s *subject) begin(ctx context.Context, objects *s3.Server) error {
	o := objects.Options("factory")
	at := v1alpha1.ObjectStore{Endpoint: o.Endpoint, Region: o.Region, Bucket: o.Bucket, Prefix: o.Prefix}
	err := s.DeclareBackup(ctx, backup, "@daily", at, map[string]string{"accessKeyID": o.AccessKeyID, "secretAccessKey": o.SecretAccessKey})
	if err != nil {
		return err
	}
	return s.take(ctx)
}

// take asks for a backup, and waits until it is proved.
func (s *subject) take(ctx context.Context) error {
	request, b := rand.Text(), &v1alpha1.TalosEtcdBackup{ObjectMeta: meta(backup)}
	return cluster.Until(ctx, "the backup", func(ctx context.Context) error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(b), b); err != nil {
			return err
		}
		if b.Status.ObservedBackupRequest == request && len(b.Status.Snapshots) > 0 {
			s.snapshot = b.Status.Snapshots[0].Name
			return nil
		}
		if b.Annotations[v1alpha1.AnnotationBackupRequested] != request {
			changed := b.DeepCopy()
			metav1.SetMetaDataAnnotation(&changed.ObjectMeta, v1alpha1.AnnotationBackupRequested, request)
			if err := s.Client.Patch(ctx, changed, client.MergeFrom(b)); err != nil {
				return err
			}
		}
		return fmt.Errorf("%w: %+v", errNotYet, b.Status.Conditions)
	})
}

// byProduct orders a restore, and waits for its end.
func (s *subject) byProduct(ctx context.Context, round int) error {
	order := &v1alpha1.TalosOperation{ObjectMeta: meta(fmt.Sprintf("round-%d", round)), Spec: v1alpha1.TalosOperationSpec{
		Kind: v1alpha1.OperationEtcdRestore, ClusterRef: v1alpha1.LocalRef{Name: restored.Cluster},
		EtcdRestore: &v1alpha1.EtcdRestoreSpec{BackupRef: v1alpha1.LocalRef{Name: backup}, Snapshot: s.snapshot, Confirm: restored.Cluster},
	}}
	if err := s.Client.Create(ctx, order); err != nil {
		return fmt.Errorf("order the restore: %w", err)
	}
	return cluster.Until(ctx, "the restore to end", func(ctx context.Context) error {
		o := &v1alpha1.TalosOperation{}
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(order), o); err != nil {
			return err
		}
		if o.Status.Phase != v1alpha1.PhaseCompleted {
			return fmt.Errorf("%w: %s, %s, %+v", errNotYet, o.Status.Phase, o.Status.FailureReason, o.Status.EtcdRestore)
		}
		return nil
	})
}

// byHand wipes all control planes at once and recovers etcd on one of them.
func (s *subject) byHand(ctx context.Context, _ int) (err error) {
	// Of after a recovery, or the TalosCluster in it would know another etcd's ID.
	if s.content == nil {
		if s.content, err = s.Snapshot(ctx, founder); err != nil {
			return err
		}
	}
	if err := s.Wipe(ctx, s.Talos.ControlPlanes()...); err != nil {
		return err
	}
	if err := s.Recover(ctx, founder, s.content); err != nil {
		return err
	}
	return s.Back(ctx)
}

// mend is what a person has to do after it, and is not measured: what was not wiped has
// watches of before the rewind, and hears of nothing.
func (s *subject) mend(ctx context.Context) error {
	for _, m := range s.Talos.Nodes() {
		if err := m.RestartProxy(); err != nil {
			return err
		}
		if !m.Worker() {
			continue
		}
		n, err := s.Node(m.Name)
		if err == nil {
			err = errors.Join(n.RestartKubelet(ctx), n.Close())
		}
		if err != nil {
			return fmt.Errorf("restart the kubelet of %s: %w", m.Name, err)
		}
	}
	return s.KillContainer()
}

// settle waits until the controllers act again on machines that are all well.
func (s *subject) settle(ctx context.Context) error {
	if err := s.ManagerReady(ctx); err != nil {
		return err
	}
	for _, m := range s.Talos.Nodes() {
		if err := s.Reconciles(ctx, m.Name); err != nil {
			return err
		}
	}
	return s.Ready(ctx)
}
