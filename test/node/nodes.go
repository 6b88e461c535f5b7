package node

import (
	"context"
	"fmt"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
)

// StorageClass is the default class: kube-controller-manager's own provisioner makes
// the volumes, and their data is kept below Options.Dir.
const StorageClass = "standard"

const (
	leaseNamespace = "kube-node-lease"
	// heartbeat is short against the 50 s after which a node is NotReady.
	heartbeat    = 5 * time.Second
	leaseSeconds = 40
	// callTimeout bounds each call of the API server.
	callTimeout = 10 * time.Second
)

// join makes the nodes, and the StorageClass if there is none of that name.
func (k *Kubelets) join(ctx context.Context) error {
	if k.options.Kubelet != nil {
		return k.register(ctx)
	}
	for i, name := range k.options.Nodes {
		if _, err := k.client.CoreV1().Nodes().Create(ctx, newNode(name, i), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("make node %s: %w", name, err)
		}
		if err := k.beat(ctx, name); err != nil {
			return err
		}
	}
	class := &storagev1.StorageClass{
		ObjectMeta:  metav1.ObjectMeta{Name: StorageClass, Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
		Provisioner: "kubernetes.io/host-path",
	}
	if _, err := k.client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make the StorageClass: %w", err)
	}
	return nil
}

func newNode(name string, number int) *corev1.Node {
	now := metav1.Now()
	size := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods: resource.MustParse("110"),
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux",
		}},
		Status: corev1.NodeStatus{
			Capacity: size, Allocatable: size,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: nodeAddress(number)}, {Type: corev1.NodeHostName, Address: name}},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
		},
	}
}

// nodeAddress is one that nothing is sent to.
func nodeAddress(number int) string { return fmt.Sprintf("10.76.0.%d", number+1) }

func (k *Kubelets) hostIP(node string) string {
	if k.options.Kubelet != nil {
		return k.options.Kubelet.Address
	}
	for i, name := range k.options.Nodes {
		if name == node {
			return nodeAddress(i)
		}
	}
	return ""
}

// heartbeats keeps the nodes' Leases alive.
func (k *Kubelets) heartbeats(ctx context.Context) {
	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, name := range k.options.Nodes {
			// The next one is in time if this one failed: an API server may be away.
			if !k.silent(name) {
				_ = k.beat(ctx, name)
				_ = k.report(ctx)
			}
		}
	}
}

func (k *Kubelets) beat(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	leases := k.client.CoordinationV1().Leases(leaseNamespace)
	now := metav1.NowMicro()
	patch := fmt.Appendf(nil, `{"spec":{"renewTime":%q}}`, now.UTC().Format(metav1.RFC3339Micro))
	_, err := leases.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
	if apierrors.IsNotFound(err) {
		_, err = leases.Create(ctx, &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &name, LeaseDurationSeconds: ptr.To[int32](leaseSeconds), RenewTime: &now},
		}, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("renew the lease of node %s: %w", name, err)
	}
	return nil
}
