package recovered

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/restored"
	"github.com/quorate/quorate/test/talos"
)

// middle is what is under way at a snapshot.
type middle struct {
	*stage
	cluster   *v1alpha1.TalosCluster
	machine   *v1alpha1.TalosMachine
	operation *v1alpha1.TalosOperation
	etcd      *v1alpha1.Etcd
	lift      []func()
}

func object(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

// middle begins all of it. What keeps cp-3 in the cluster is no part of etcd: neither it
// nor anybody else can take it out.
func (s *stage) middle(t *testing.T) *middle {
	t.Helper()
	m := &middle{
		stage: s, cluster: &v1alpha1.TalosCluster{ObjectMeta: object(restored.Namespace, restored.Cluster)},
		machine:   &v1alpha1.TalosMachine{ObjectMeta: object(restored.Namespace, "cp-3")},
		operation: restored.Order("unfinished", restored.Backup, "etcd-20300102T150405Z.snapshot.age"),
		etcd:      &v1alpha1.Etcd{ObjectMeta: object(restored.Users, "orders"), Spec: v1alpha1.EtcdSpec{Replicas: ptr.To[int32](1)}},
	}
	away := status.Error(codes.Unavailable, "try again")
	for _, n := range s.Talos.ControlPlanes() {
		m.lift = append(m.lift, n.Fault(talos.Answer("EtcdLeaveCluster", away)), n.Fault(talos.Answer("EtcdRemoveMemberByID", away)))
	}
	must(t, s.Client.Create(within(t), m.etcd))
	m.declares(t, 1)
	m.leaves(t)
	must(t, s.Client.Create(within(t), m.operation))
	s.paused(t, m.operation)
	m.at(t, 1)
	return m
}

// declares sets the count of control planes.
func (m *middle) declares(t *testing.T, count int32) {
	t.Helper()
	m.edits(t, m.cluster, func() { m.cluster.Spec.ControlPlane.Count = count })
}

func (m *middle) edits(t *testing.T, o client.Object, change func()) {
	t.Helper()
	until(t, "the change of "+o.GetName(), func(ctx context.Context) error {
		if err := m.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		was := o.DeepCopyObject().(client.Object)
		change()
		return m.Client.Patch(ctx, o, client.MergeFrom(was))
	})
}

// leaves deletes cp-3, and waits until its removal has got stuck.
func (m *middle) leaves(t *testing.T) {
	t.Helper()
	m.edits(t, m.machine, func() { metav1.SetMetaDataAnnotation(&m.machine.ObjectMeta, v1alpha1.AnnotationAllowDelete, "true") })
	must(t, m.Client.Delete(within(t), m.machine))
	m.removal(t, v1alpha1.ReasonEtcdMemberRemovalFailed)
}

// removal waits until the removal of cp-3 is so for this reason.
func (m *middle) removal(t *testing.T, reason string) {
	t.Helper()
	until(t, "the removal of cp-3 to be "+reason, func(ctx context.Context) error {
		if err := m.Client.Get(ctx, client.ObjectKeyFromObject(m.machine), m.machine); err != nil {
			return err
		}
		if c := meta.FindStatusCondition(m.machine.Status.Conditions, v1alpha1.ConditionRemoval); c == nil || c.Reason != reason {
			return fmt.Errorf("%w: %+v", errNotYet, c)
		}
		return nil
	})
}

// at waits until the Etcd's StatefulSet has a size.
func (m *middle) at(t *testing.T, size int32) {
	t.Helper()
	until(t, fmt.Sprintf("the StatefulSet to have %d pods", size), func(ctx context.Context) error {
		is, err := m.size(ctx)
		if err == nil && is != size {
			err = fmt.Errorf("%w: it has %d", errNotYet, is)
		}
		return err
	})
}

func (m *middle) size(ctx context.Context) (int32, error) {
	var list appsv1.StatefulSetList
	if err := m.Client.List(ctx, &list, client.InNamespace(restored.Users)); err != nil {
		return 0, err
	}
	if len(list.Items) != 1 {
		return 0, fmt.Errorf("%w: there are %d StatefulSets", errNotYet, len(list.Items))
	}
	return ptr.Deref(list.Items[0].Spec.Replicas, 1), nil
}

// ends has everything wanted otherwise than at the snapshot, and nothing in its way: only
// the declared count keeps cp-3.
func (m *middle) ends(t *testing.T) {
	t.Helper()
	m.declares(t, 3)
	m.removal(t, v1alpha1.ReasonRemovalRefused)
	for _, lift := range m.lift {
		lift()
	}
	must(t, m.Client.Delete(within(t), m.operation))
	m.gone(t, m.operation)
	m.edits(t, m.etcd, func() { m.etcd.Spec.Replicas = ptr.To[int32](3) })
}
