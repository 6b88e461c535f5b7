package etcd

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/rejoin"
	etcdclient "github.com/quorate/quorate/internal/etcd"
)

// observe reads the StatefulSet as it is, and pods and claims. Pods are read before
// the member list: one whose agent had finished then must be in the list.
func (c *cycle) observe(ctx context.Context) error {
	set, err := c.liveSet(ctx)
	if err != nil {
		return err
	}
	c.set = set
	if err := c.readPods(ctx, c.Client); err != nil {
		return err
	}
	c.unmade(ctx)
	return nil
}

// readPods reads pods and claims, from the cache or from the API server itself.
func (c *cycle) readPods(ctx context.Context, from client.Reader) error {
	mine := []client.ListOption{client.InNamespace(c.etcd.Namespace), client.MatchingLabels(c.names.labels())}
	var pods corev1.PodList
	if err := from.List(ctx, &pods, mine...); err != nil {
		return fmt.Errorf("list the pods: %w", err)
	}
	var claims corev1.PersistentVolumeClaimList
	if err := from.List(ctx, &claims, mine...); err != nil {
		return fmt.Errorf("list the volumes' claims: %w", err)
	}
	c.pods, c.claims = pods.Items, claims.Items
	return nil
}

// liveSet reads the StatefulSet from the API server; nil if there is none. One of
// somebody else is none to touch.
func (c *cycle) liveSet(ctx context.Context) (*appsv1.StatefulSet, error) {
	set := &appsv1.StatefulSet{}
	err := c.Live.Get(ctx, client.ObjectKey{Namespace: c.etcd.Namespace, Name: c.names.statefulSet()}, set)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get the StatefulSet: %w", err)
	case !c.owns(set):
		return nil, fmt.Errorf("StatefulSet %s: %w", set.Name, errForeign)
	case !set.DeletionTimestamp.IsZero():
		// It is made anew once it is gone; its size still counts.
		c.soon(busy)
	}
	return set, nil
}

// look reads the live list. Without one no member is removed; all else goes on.
func (c *cycle) look(ctx context.Context) error {
	if c.set == nil || c.recorded().StatefulSet == 0 {
		return nil
	}
	if c.resting() {
		c.viewErr = errLeft
		return nil
	}
	c.view, c.viewErr = c.list(ctx)
	if c.viewErr != nil {
		c.log.V(1).Info("no member list", "why", c.viewErr.Error())
		c.unlisted()
		return c.inquire(ctx)
	}
	return c.formed(ctx)
}

func (c *cycle) listAt(ctx context.Context, endpoints []string) (*etcdclient.View, error) {
	cluster, err := c.connect(ctx, endpoints)
	if err != nil {
		return nil, err
	}
	defer c.end(cluster)
	return cluster.View(ctx)
}

// unlisted says why there is no list, unless the cluster has just been created.
func (c *cycle) unlisted() {
	switch {
	case errors.Is(c.viewErr, etcdclient.ErrOtherCluster):
		c.fail(v1alpha1.ErrOtherCluster, oneLine(c.viewErr)+"; nothing is changed. "+c.rightEndpoints())
	case errors.Is(c.viewErr, errTLS):
		c.fail(v1alpha1.ErrReadTLS, oneLine(c.viewErr))
	case c.gone():
		c.soon(usual) // a source without members rests
		return
	case c.etcd.Status.ClusterID != "":
		c.fail(v1alpha1.ErrListMembers, "no member gives a linearizable list: "+oneLine(c.viewErr))
	}
	c.soon(busy)
}

// rightEndpoints is the way out where another cluster answers.
func (c *cycle) rightEndpoints() string {
	text := "Make the Service " + c.names.clientService() + " lead to this Etcd's own pods"
	if c.names.settings().BootstrapWithExistingCluster != nil {
		text += ", and spec.etcd.bootstrapWithExistingCluster.clientEndpoints to the cluster that it joined"
	}
	return text
}

// formed records the cluster's ID as soon as it is known: from then on members join,
// and no other cluster is formed. For a creation it must be the one that its founders
// form; another one is somebody else's.
func (c *cycle) formed(ctx context.Context) error {
	if c.etcd.Status.ClusterID != "" {
		return nil
	}
	if expected := c.foundedID(); expected != 0 && expected != c.view.ClusterID {
		c.viewErr = fmt.Errorf("%w: %x, and the founders of this Etcd form %x", etcdclient.ErrOtherCluster, c.view.ClusterID, expected)
		c.view = nil
		c.unlisted()
		return nil
	}
	c.etcd.Status.ClusterID = v1alpha1.HexID(strconv.FormatUint(c.view.ClusterID, 16))
	return c.persist(ctx)
}

// foundedID is the ID of the cluster that the founders form; 0 for a join.
func (c *cycle) foundedID() uint64 {
	return uint64(rejoin.FoundingOf(string(c.etcd.UID), c.founders()).ClusterID)
}
