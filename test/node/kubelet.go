package node

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// register makes the Node of a kubelet alone, or takes over the one that is there.
func (k *Kubelets) register(ctx context.Context) error {
	name := k.options.Nodes[0]
	fresh := newNode(name, 0)
	for key, value := range k.options.Kubelet.Labels {
		fresh.Labels[key] = value
	}
	if _, err := k.client.CoreV1().Nodes().Create(ctx, fresh, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make node %s: %w", name, err)
	}
	if err := k.beat(ctx, name); err != nil {
		return err
	}
	return k.report(ctx)
}

// report writes the status of the Node of a kubelet alone. Elsewhere nobody does, and
// the Lease is all that there is. A Node that was deleted is not made again before
// the kubelet's next start.
func (k *Kubelets) report(ctx context.Context) error {
	if k.options.Kubelet == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	nodes := k.client.CoreV1().Nodes()
	found, err := nodes.Get(ctx, k.options.Nodes[0], metav1.GetOptions{})
	if err == nil {
		ready(found, k.options.Kubelet)
		_, err = nodes.UpdateStatus(ctx, found, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("report the status of node %s: %w", k.options.Nodes[0], err)
	}
	return nil
}

// ready puts in what a kubelet knows of its node.
func ready(n *corev1.Node, kubelet *Kubelet) {
	n.Status.NodeInfo = kubelet.Info
	n.Status.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: kubelet.Address}, {Type: corev1.NodeHostName, Address: n.Name},
	}
	now := metav1.Now()
	fresh := corev1.NodeCondition{
		Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "kubelet is posting ready status",
		LastHeartbeatTime: now, LastTransitionTime: now,
	}
	for i, c := range n.Status.Conditions {
		if c.Type != corev1.NodeReady {
			continue
		}
		if c.Status == fresh.Status {
			fresh.LastTransitionTime = c.LastTransitionTime
		}
		n.Status.Conditions[i] = fresh
		return
	}
	n.Status.Conditions = append(n.Status.Conditions, fresh)
}

// Restart lets a Kubelet begin anew, as a restart of its process does: it forgets what
// it has heard, makes its Node again if that is gone, and lists all objects. What runs
// in pods goes on. After an error it does nothing until a Restart succeeds; so it
// does between Silence and Restart.
func (k *Kubelets) Restart(ctx context.Context) error {
	if k.options.Kubelet == nil {
		return fmt.Errorf("restart: %w: only a Kubelet can", ErrOptions)
	}
	name := k.options.Nodes[0]
	k.Silence(name)
	k.world().stop()
	if err := k.register(ctx); err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	fresh := k.watch()
	if err := fresh.start(ctx); err != nil {
		fresh.stop()
		return fmt.Errorf("restart the kubelet of node %s: %w", name, err)
	}
	k.known.Store(fresh)
	k.Unsilence(name)
	return nil
}
