package machine

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
)

// release lets a machine go whose cluster is gone or on its way out: nothing of it is
// to be kept quorate. The rules have the first word here too.
func (c *cycle) release(ctx context.Context) error {
	if c.cluster != nil && c.cluster.DeletionTimestamp.IsZero() {
		return nil
	}
	refusal, err := c.refusal(ctx)
	switch {
	case err != nil:
		return err
	case refusal != "":
		return c.stuck(ctx, v1alpha1.ReasonRemovalRefused, refusal)
	}
	return c.end(ctx, fmt.Sprintf("Machine %s was let go with TalosCluster %s; its node and its etcd were left as they are", c.machine.Name, c.machine.Spec.ClusterRef.Name))
}

// finish is the end of a removal.
func (c *cycle) finish(ctx context.Context) error {
	what := fmt.Sprintf("Machine %s (Node %s) was drained and let go", c.machine.Name, c.node)
	if c.controlPlane() {
		what = fmt.Sprintf("Machine %s (Node %s) was removed from etcd", c.machine.Name, c.node)
	}
	return c.end(ctx, what)
}

// end tells of the credentials that the machine keeps, and only then lets it go.
func (c *cycle) end(ctx context.Context, what string) error {
	if err := c.untouched(ctx); err != nil {
		return err
	}
	c.letGo(ctx)
	c.tell()
	if err := c.warnOfCredentials(ctx, what); err != nil {
		return err
	}
	changed := c.read.DeepCopy()
	controllerutil.RemoveFinalizer(changed, v1alpha1.FinalizerMachine)
	if err := c.Client.Patch(ctx, changed, client.MergeFromWithOptions(c.read, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizer: %w", err)
	}
	c.log.Info("the machine is let go")
	c.work.forget(c.machine.UID)
	return errOver
}

// boots is what a control plane does that nobody resets.
func (c *cycle) boots() string {
	if c.controlPlane() {
		return ", and joins etcd again by itself when it boots"
	}
	return ""
}

// reporter is whom events are reported by.
const reporter = "quorate"

// warnOfCredentials writes the event itself, and not by a recorder that writes when it
// can: the object that it is about is gone a moment later. Its name makes it one,
// however often it is written.
func (c *cycle) warnOfCredentials(ctx context.Context, what string) error {
	e := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.machine.Namespace, Name: "credentials-of-" + string(c.machine.UID)},
		EventTime:  metav1.NewMicroTime(c.Clock.Now()),
		Regarding: corev1.ObjectReference{
			APIVersion: v1alpha1.GroupVersion.String(), Kind: "TalosMachine", Namespace: c.machine.Namespace, Name: c.machine.Name, UID: c.machine.UID,
		},
		Type: corev1.EventTypeWarning, Reason: v1alpha1.EventNodeStillHasClusterCredentials, Action: "Reconcile",
		ReportingController: reporter, ReportingInstance: reporter,
		Note: conditions.Cut(what+", and still holds the cluster's credentials"+c.boots()+". Reset the node or power it off before it is used for anything else.", conditions.MaxNote),
	}
	if err := c.Client.Create(ctx, e); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("tell of the credentials in an event: %w", err)
	}
	return nil
}
