package restore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/controlplane"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/restoreplan"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
)

// sight is what the machines said.
type sight struct {
	nodes  []restore.Node
	silent []restoring.Silent
	// own is the control plane that this process runs on.
	own string
}

// read compares what is asked for with what there is: no machine is asked.
func (w *preparation) read(ctx context.Context) (err error) {
	if w.bundle, err = w.Plane.Bundle(ctx, w.Cluster); err != nil {
		return err
	}
	if w.machines, err = w.Plane.Machines(ctx, w.Cluster.Namespace, w.Cluster.Name); err != nil {
		return err
	}
	if w.secrets, err = w.Secrets(ctx, w.Cluster); err != nil {
		return err
	}
	if err = w.readMeta(ctx); err != nil {
		return err
	}
	return w.readEtcds(ctx)
}

// readMeta reads what stands beside the snapshot. Where nothing does, it is not whole.
func (w *preparation) readMeta(ctx context.Context) error {
	name := w.Operation.Spec.EtcdRestore.Snapshot
	data, _, err := store.ReadSmall(ctx, w.Store, snapshot.MetaName(name))
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	w.meta, err = snapshot.DecodeMeta(data)
	return err
}

// readEtcds keeps the sizes of all Etcds, to hold those that come back at another one.
func (w *preparation) readEtcds(ctx context.Context) error {
	var list v1alpha1.EtcdList
	if err := w.Live.List(ctx, &list); err != nil {
		return fmt.Errorf("list the Etcds: %w", err)
	}
	for i := range list.Items {
		e := &list.Items[i]
		w.etcds = append(w.etcds, restore.EtcdSize{Namespace: e.Namespace, Name: e.Name, Replicas: sizeOf(e)})
	}
	return nil
}

// askTimeout bounds what all machines are asked.
const askTimeout = 40 * time.Second

// ask asks all machines at once. A control plane that does not answer, or whose data
// cannot be read, stands in the way; a worker does not.
func (w *preparation) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var group sync.WaitGroup
	nodes, errs, revisions := make([]restore.Node, len(w.machines)), make([]error, len(w.machines)), make([]int64, len(w.machines))
	for i := range w.machines {
		if !w.machines[i].Spec.Approved {
			continue
		}
		group.Go(func() { nodes[i], revisions[i], errs[i] = w.askOne(ctx, &w.machines[i]) })
	}
	group.Wait()
	for i, m := range w.machines {
		switch {
		case !m.Spec.Approved:
		case errs[i] != nil && controlplane.Approved(&m):
			w.seen.silent = append(w.seen.silent, restoring.Silent{Machine: m.Name, Why: oneLine(errs[i])})
		default:
			w.seen.nodes = append(w.seen.nodes, nodes[i])
		}
	}
	w.live = slices.Max(append(revisions, 0))
	w.findOwn(ctx)
	return nil
}

func (w *preparation) askOne(ctx context.Context, m *v1alpha1.TalosMachine) (n restore.Node, revision int64, err error) {
	n = restore.Node{Machine: m.Name, NodeName: m.Status.NodeName, Role: m.Spec.Role}
	api, err := w.Dial(w.bundle, m)
	if err != nil {
		return n, 0, err
	}
	defer func() { _ = api.Close() }() // nothing was written through it
	n.Address = api.Address()
	switch name, err := api.NodeName(ctx); {
	case err == nil:
		n.NodeName = cmp.Or(name, n.NodeName)
	case n.NodeName == "" || controlplane.Approved(m):
		return n, 0, err
	}
	if !controlplane.Approved(m) {
		return n, 0, nil
	}
	revision, err = w.askPlane(ctx, api, &n)
	return n, revision, err
}

// askPlane asks a control plane for what its wipe needs, and its etcd for its revision.
func (w *preparation) askPlane(ctx context.Context, api Node, n *restore.Node) (revision int64, err error) {
	if err := api.VerifyCluster(ctx); err != nil {
		return 0, err
	}
	if n.BootID, err = api.BootID(ctx); err != nil {
		return 0, err
	}
	if _, err := api.HasEtcdData(ctx); err != nil {
		return 0, err
	}
	if n.Volumes, err = api.Volumes(ctx); err != nil {
		return 0, err
	}
	found, err := w.Probe(ctx, w.bundle, n.Address)
	if err != nil {
		return 0, fmt.Errorf("ask its etcd: %w", err)
	}
	n.MemberID = found.MemberID
	for _, m := range found.Members {
		if m.ID == found.MemberID {
			n.PeerURLs = m.PeerURLs
		}
	}
	return found.Revision, nil
}

// findOwn tells which control plane this process runs on: by the Node's name, as the
// machine itself gives it, or by the Node's addresses.
func (w *preparation) findOwn(ctx context.Context) {
	if w.NodeName == "" {
		return
	}
	node := &corev1.Node{}
	if err := w.Live.Get(ctx, types.NamespacedName{Name: w.NodeName}, node); err != nil {
		node = nil
	}
	reported := func(_ context.Context, m *v1alpha1.TalosMachine) string {
		i := slices.IndexFunc(w.seen.nodes, func(n restore.Node) bool { return n.Machine == m.Name })
		if i < 0 {
			return ""
		}
		return w.seen.nodes[i].NodeName
	}
	if own := restoreplan.MachineOf(ctx, w.machines, w.NodeName, node, reported); own != nil && controlplane.Approved(own) {
		w.seen.own = own.Name
		w.nameOwn()
	}
}

// nameOwn gives a machine that says no name the one by which it was found: the job tells
// by it where it runs.
func (w *preparation) nameOwn() {
	for i := range w.seen.nodes {
		if n := &w.seen.nodes[i]; n.Machine == w.seen.own {
			n.NodeName = cmp.Or(n.NodeName, w.NodeName)
		}
	}
}

// judge refuses what cannot work.
func (w *preparation) judge(ctx context.Context) error {
	p := w.prospect()
	if err := w.readUnfinished(ctx, &p); err != nil {
		return err
	}
	at, err := w.StoreAt(ctx, w.Backup.Spec.ObjectStore.Endpoint)
	if err != nil {
		return err
	}
	p.StoreAt = at
	return blockedBy(restoring.Blocked(p))
}

func (w *preparation) readUnfinished(ctx context.Context, p *restoring.Prospect) error {
	var list v1alpha1.TalosOperationList
	if err := w.Live.List(ctx, &list, inNamespaceOf(w.Cluster)); err != nil {
		return fmt.Errorf("list the operations: %w", err)
	}
	for _, o := range list.Items {
		if o.Spec.ClusterRef.Name == w.Cluster.Name && o.Name != w.Operation.Name && o.Status.Phase != v1alpha1.PhaseCompleted && older(&o, w.Operation) {
			p.Unfinished = append(p.Unfinished, restoring.Unfinished{Name: o.Name, Phase: o.Status.Phase})
		}
	}
	return nil
}

// older has the first of two operations that were ordered at once go on.
func older(o, than *v1alpha1.TalosOperation) bool {
	if c := o.CreationTimestamp.Compare(than.CreationTimestamp.Time); c != 0 {
		return c < 0
	}
	return strings.Compare(o.Name, than.Name) < 0
}
