package drain

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	kubectl "k8s.io/kubectl/pkg/drain"
)

const (
	// stepTimeout bounds one look.
	stepTimeout = 30 * time.Second
	// deadPodGrace is how long beyond its own grace a pod of a dead Node may still be
	// terminating before nobody waits for it: no kubelet will ever confirm its end.
	// A deletionTimestamp has the pod's own grace in it.
	deadPodGrace = time.Minute
	pageSize     = 500
)

// Drainer drains Nodes. Safe for many at once.
type Drainer struct {
	// Client asks the API server itself; its rate limit holds up a Step.
	Client kubernetes.Interface
}

// Step cordons the Node, asks for the eviction of each pod that was not asked yet, and
// says what is still there. DaemonSet and mirror pods stay; emptyDir data and pods
// without a controller go. A Node that does not exist is drained. After an error the
// Progress is what was seen until then; it is never Done.
func (d *Drainer) Step(ctx context.Context, node string) (Progress, error) {
	ctx, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	progress, err := d.step(ctx, node)
	if err != nil {
		return progress, fmt.Errorf("drain Node %s: %w", node, err)
	}
	return progress, nil
}

func (d *Drainer) step(ctx context.Context, name string) (Progress, error) {
	node, err := d.cordon(ctx, name)
	switch {
	case gone(err):
		return Progress{}, nil
	case err != nil:
		return unseen, err
	}
	pods, err := d.pods(ctx, node)
	if err != nil {
		return unseen, err
	}
	return d.evict(ctx, pods)
}

// gone: the object does not exist. A 404 that is not the API server's own, of a proxy
// before it, says nothing about the object.
func gone(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.IsUnexpectedServerError(err)
}

func (d *Drainer) cordon(ctx context.Context, name string) (*corev1.Node, error) {
	node, err := d.Client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("get it: %w", err)
	}
	c := kubectl.NewCordonHelper(node)
	if !c.UpdateIfRequired(true) {
		return node, nil
	}
	// The second error is about the patch's making, and only where kubectl replaces
	// the Node instead.
	if err, _ := c.PatchOrReplaceWithContext(ctx, d.Client, false); err != nil {
		return nil, fmt.Errorf("cordon it: %w", err)
	}
	return node, nil
}

// pods are those that have to go.
func (d *Drainer) pods(ctx context.Context, node *corev1.Node) ([]corev1.Pod, error) {
	helper := &kubectl.Helper{
		Ctx: ctx, Client: d.Client, ChunkSize: pageSize,
		Force: true, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true,
	}
	if !ready(node) {
		helper.SkipWaitForDeleteTimeoutSeconds = int(deadPodGrace.Seconds())
	}
	list, errs := helper.GetPodsForDeletion(node.Name)
	if len(errs) > 0 {
		return nil, fmt.Errorf("list its pods: %w", errors.Join(errs...))
	}
	return list.Pods(), nil
}

func ready(node *corev1.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
