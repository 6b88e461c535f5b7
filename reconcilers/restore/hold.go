package restore

import (
	"context"
	"fmt"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
	"github.com/quorate/quorate/internal/epoch"
	"github.com/quorate/quorate/internal/restore"
)

// holder has what a rewind brought back wait for a person. It can be repeated.
type holder struct {
	client client.Client
	live   client.Reader
	marker *restore.Marker
	// namespace and cluster are the TalosCluster's.
	namespace, cluster string
	// own is the operation of the restore itself.
	own string
	// held are those that it found to be held, with the reason, by name.
	held []string
}

func (h *holder) epoch() string { return strconv.FormatInt(h.marker.Epoch, 10) }

// hold goes through all that the rewind may have brought back.
func (h *holder) hold(ctx context.Context) error {
	for _, one := range []func(context.Context) error{h.operations, h.machines, h.etcds} {
		if err := one(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (h *holder) operations(ctx context.Context) error {
	var list v1alpha1.TalosOperationList
	if err := h.live.List(ctx, &list, client.InNamespace(h.namespace)); err != nil {
		return fmt.Errorf("list the operations of before: %w", err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		if o.Name == h.own || o.Spec.ClusterRef.Name != h.cluster || !unfinishedOperation(o) {
			continue
		}
		if err := h.operation(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

// operation holds by annotation first: the phase says by which restore only with it.
func (h *holder) operation(ctx context.Context, o *v1alpha1.TalosOperation) error {
	if err := h.annotate(ctx, o); err != nil {
		return err
	}
	before := o.DeepCopy()
	o.Status.Phase = v1alpha1.PhaseHeld
	if err := h.client.Status().Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("hold TalosOperation %s: %w", o.Name, err)
	}
	h.held = append(h.held, "TalosOperation "+o.Name+" (it was unfinished at the snapshot)")
	return nil
}

func (h *holder) machines(ctx context.Context) error {
	var list v1alpha1.TalosMachineList
	if err := h.live.List(ctx, &list, client.InNamespace(h.namespace)); err != nil {
		return fmt.Errorf("list the machines of before: %w", err)
	}
	for i := range list.Items {
		m := &list.Items[i]
		if m.Spec.ClusterRef.Name != h.cluster {
			continue
		}
		if err := h.keep(ctx, m, "TalosMachine "+m.Name, unfinishedMachine(m)); err != nil {
			return err
		}
	}
	return nil
}

// etcds are those of the whole API server: all of it was rewound.
func (h *holder) etcds(ctx context.Context) error {
	var list v1alpha1.EtcdList
	if err := h.live.List(ctx, &list); err != nil {
		return fmt.Errorf("list the Etcds of before: %w", err)
	}
	for i := range list.Items {
		e := &list.Items[i]
		size, known := h.sizeBefore(e)
		if err := h.keep(ctx, e, "Etcd "+e.Namespace+"/"+e.Name, unfinishedEtcd(e, size, known)); err != nil {
			return err
		}
	}
	return nil
}

func (h *holder) sizeBefore(e *v1alpha1.Etcd) (size int32, known bool) {
	for _, was := range h.marker.Etcds {
		if was.Namespace == e.Namespace && was.Name == e.Name {
			return was.Replicas, true
		}
	}
	return 0, false
}

func (h *holder) keep(ctx context.Context, o client.Object, name, why string) error {
	if why == "" {
		return nil
	}
	h.held = append(h.held, fmt.Sprintf("%s (%s)", name, why))
	return h.annotate(ctx, o)
}

func (h *holder) annotate(ctx context.Context, o client.Object) error {
	before, ok := o.DeepCopyObject().(client.Object)
	if !ok || !epoch.Hold(o, h.epoch()) {
		return nil
	}
	err := h.client.Patch(ctx, o, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("hold %s: %w", o.GetName(), err)
	}
	return nil
}

// holdReturned holds what the rewind brought back, and records the epoch in the cluster.
// It comes before the end of the marker, which keeps all of it from being done so far.
// Where etcd was not rewound, there is nothing to hold.
func (c *cycle) holdReturned(ctx context.Context) error {
	if s := c.marker.Step; s != v1alpha1.StepRejoining && s != v1alpha1.StepReconciling {
		return nil
	}
	h := &holder{client: c.Client, live: c.Live, marker: c.marker, namespace: c.op.Namespace, cluster: c.clusterKey().Name, own: c.op.Name}
	if err := h.hold(ctx); err != nil {
		return err
	}
	if len(h.held) > 0 {
		c.warn(v1alpha1.ReasonHeldByRestore, conditions.Cut(fmt.Sprintf("Held until a person lets it go on (quorate operation list, quorate operation release): %s.", names(h.held, 8)), conditions.MaxNote))
	}
	return c.recordEpoch(ctx)
}

func (c *cycle) recordEpoch(ctx context.Context) error {
	if c.cluster == nil || c.cluster.Status.RestoreEpoch >= c.marker.Epoch {
		return nil
	}
	changed := c.cluster.DeepCopy()
	changed.Status.RestoreEpoch = c.marker.Epoch
	if err := c.Client.Status().Patch(ctx, changed, client.MergeFromWithOptions(c.cluster, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("record the restore in the cluster's status: %w", err)
	}
	c.cluster = changed
	return nil
}
