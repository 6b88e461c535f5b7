package restoreplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/snapshot"
)

// ErrChoice: what is to be restored was not said, and is not the only one of its kind; or
// there is nothing of the name.
var ErrChoice = errors.New("what is to be restored is open")

// pickCluster is the named cluster, or the only one of the namespace.
func pickCluster(ctx context.Context, kube client.Reader, namespace, name string) (*v1alpha1.TalosCluster, error) {
	if name != "" {
		return named(ctx, kube, namespace, name, "TalosCluster", &v1alpha1.TalosCluster{})
	}
	var list v1alpha1.TalosClusterList
	if err := kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list the TalosClusters in %s: %w", namespace, err)
	}
	var names []string
	for _, c := range list.Items {
		names = append(names, c.Name)
	}
	if err := only(names, "TalosCluster", "in namespace "+namespace, "--cluster"); err != nil {
		return nil, err
	}
	return &list.Items[0], nil
}

// pickBackup is the named backup, of whatever cluster, or the only one of the cluster.
func pickBackup(ctx context.Context, kube client.Reader, cluster *v1alpha1.TalosCluster, name string) (*v1alpha1.TalosEtcdBackup, error) {
	if name != "" {
		return named(ctx, kube, cluster.Namespace, name, "TalosEtcdBackup", &v1alpha1.TalosEtcdBackup{})
	}
	var list v1alpha1.TalosEtcdBackupList
	if err := kube.List(ctx, &list, client.InNamespace(cluster.Namespace)); err != nil {
		return nil, fmt.Errorf("list the TalosEtcdBackups in %s: %w", cluster.Namespace, err)
	}
	ours := slices.DeleteFunc(list.Items, func(b v1alpha1.TalosEtcdBackup) bool { return b.Spec.ClusterRef.Name != cluster.Name })
	var names []string
	for _, b := range ours {
		names = append(names, b.Name)
	}
	if err := only(names, "TalosEtcdBackup", "of cluster "+cluster.Name, "--backup"); err != nil {
		return nil, err
	}
	return &ours[0], nil
}

// pickSnapshot is the named snapshot, or the newest. One that is not listed is an answer
// too, with the time that its name has.
func pickSnapshot(b *v1alpha1.TalosEtcdBackup, name string) (s v1alpha1.Snapshot, listed bool, err error) {
	if name == "" {
		if len(b.Status.Snapshots) == 0 {
			return s, false, fmt.Errorf("%w: TalosEtcdBackup %s has no snapshot yet; take one with quorate backup now %s", ErrChoice, b.Name, b.Name)
		}
		return b.Status.Snapshots[0], true, nil
	}
	for _, s := range b.Status.Snapshots {
		if s.Name == name {
			return s, true, nil
		}
	}
	taken, ok := snapshot.ParseName(name)
	if !ok {
		return s, false, fmt.Errorf("%w: %q is no snapshot's name; they are like etcd-20300102T150405Z.snapshot.age", ErrChoice, name)
	}
	return v1alpha1.Snapshot{Name: name, Time: metav1.NewTime(taken)}, false, nil
}

func named[O client.Object](ctx context.Context, kube client.Reader, namespace, name, kind string, into O) (O, error) {
	err := kube.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return into, fmt.Errorf("%w: there is no %s %s in namespace %s", ErrChoice, kind, name, namespace)
	}
	if err != nil {
		return into, fmt.Errorf("get %s %s: %w", kind, name, err)
	}
	return into, nil
}

func only(names []string, kind, where, flag string) error {
	switch len(names) {
	case 1:
		return nil
	case 0:
		return fmt.Errorf("%w: there is no %s %s", ErrChoice, kind, where)
	}
	slices.Sort(names)
	return fmt.Errorf("%w: there is more than one %s %s: %s; name one with %s", ErrChoice, kind, where, strings.Join(names, ", "), flag)
}
