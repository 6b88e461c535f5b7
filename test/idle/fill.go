package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

const (
	namespaces  = 10
	creators    = 4
	callTimeout = 30 * time.Second
	// restTimeout is how long all Etcds may take to come to rest.
	restTimeout = 15 * time.Minute
)

// fill makes Etcds until there are so many, and answers how long it took until all
// were at rest.
func fill(ctx context.Context, admin client.Client, size int) (time.Duration, error) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, restTimeout)
	defer cancel()
	group, create := errgroup.WithContext(ctx)
	group.SetLimit(creators)
	for i := range size {
		group.Go(func() error { return plant(create, admin, i) })
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	_, _ = fmt.Fprintf(os.Stderr, "%d Etcds are there after %s …\n", size, time.Since(began).Round(time.Second))
	err := cluster.Until(ctx, "all Etcds to be at rest", func(ctx context.Context) error { return resting(ctx, admin, size) })
	return time.Since(began), err
}

// plant makes one Etcd and its namespace, unless they are there.
func plant(ctx context.Context, admin client.Client, i int) error {
	ns := fmt.Sprintf("idle-%d", i%namespaces)
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}},
		&v1alpha1.Etcd{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("etcd-%d", i)},
			Spec: v1alpha1.EtcdSpec{
				Replicas: ptr.To(int32(0)), Storage: v1alpha1.StorageSpec{Size: ptr.To(resource.MustParse("1Gi"))},
				Etcd: &v1alpha1.EtcdConfig{Version: "3.7.3"},
			},
		},
	} {
		// A busy machine's API server may not answer in time.
		err := cluster.Until(ctx, "the creation of "+o.GetName(), func(ctx context.Context) error {
			ctx, cancel := context.WithTimeout(ctx, callTimeout)
			defer cancel()
			o.SetResourceVersion("")
			return ignoreExists(admin.Create(ctx, o))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func ignoreExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

var errNotYet = errors.New("not yet")

func resting(ctx context.Context, admin client.Client, size int) error {
	var list v1alpha1.EtcdList
	if err := admin.List(ctx, &list); err != nil {
		return fmt.Errorf("list the Etcds: %w", err)
	}
	rest := 0
	for _, e := range list.Items {
		if atRest(&e) {
			rest++
		}
	}
	if rest != size {
		return fmt.Errorf("%w: %d of %d", errNotYet, rest, size)
	}
	return nil
}

// atRest tells whether an Etcd sleeps, and nothing of it is left to do.
func atRest(e *v1alpha1.Etcd) bool {
	ready := meta.FindStatusCondition(e.Status.Conditions, v1alpha1.ConditionReady)
	return e.Status.ObservedGeneration == e.Generation && ready != nil && ready.Reason == v1alpha1.ReasonHibernated &&
		len(e.Status.LastErrors) == 0 && e.Status.LastOperation.State == v1alpha1.StateSucceeded
}
