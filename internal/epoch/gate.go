package epoch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// Marks looks into the store of a backup.
type Marks interface {
	// Marked names the restore whose marker is beside the backups; empty if there is
	// none. An answer that is not sure is an error.
	Marked(ctx context.Context, backup *v1alpha1.TalosEtcdBackup) (found string, err error)
}

// Gate is closed while a restore is on its way, or may be. One is made for each term of
// the controllers. Safe for many at once.
type Gate struct {
	live  client.Reader
	marks Marks
	clock clock.PassiveClock
	log   logr.Logger
	// line tells of a rewind within the term.
	line Timeline

	mu     sync.Mutex
	stores map[types.UID]*ask
	closed map[types.NamespacedName]string
}

// New is a gate at the beginning of a term. live reads from the API server itself.
func New(live client.Reader, marks Marks, c clock.PassiveClock, log logr.Logger) *Gate {
	return &Gate{live: live, marks: marks, clock: c, log: log, stores: map[types.UID]*ask{}, closed: map[types.NamespacedName]string{}}
}

// Wait says why a destructive step for a cluster has to wait, in whole sentences with
// the way out; empty if it need not. An empty cluster stands for whatever a rewind of
// this API server touches: a restore of any cluster closes it. Stores that were not
// asked yet, or did not answer, are asked now, within 10 s. An error is that of the API
// server, and leaves the gate closed.
func (g *Gate) Wait(ctx context.Context, namespace, cluster string) (why string, err error) {
	if why = g.running(namespace, cluster); why != "" {
		return why, nil
	}
	backups, err := g.backups(ctx)
	if err != nil {
		return "", err
	}
	if cluster != "" {
		backups = slices.DeleteFunc(backups, func(b v1alpha1.TalosEtcdBackup) bool {
			return b.Namespace != namespace || b.Spec.ClusterRef.Name != cluster
		})
	}
	g.askAll(ctx, backups)
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("ask the stores of backups for the marker of a restore: %w", err)
	}
	if why = g.running(namespace, cluster); why != "" {
		return why, nil // a restore has begun meanwhile
	}
	return g.answers(backups), nil
}

// backups are all there are, in order of their names.
func (g *Gate) backups(ctx context.Context) ([]v1alpha1.TalosEtcdBackup, error) {
	var list v1alpha1.TalosEtcdBackupList
	if err := g.live.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list the backups, whose stores tell of restores: %w", err)
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.TalosEtcdBackup) int {
		return strings.Compare(client.ObjectKeyFromObject(&a).String(), client.ObjectKeyFromObject(&b).String())
	})
	if g.line.Rewound(list.ResourceVersion) {
		g.log.Info("the API server's etcd was rewound: all stores are asked anew", "revision", list.ResourceVersion)
		g.forget()
	}
	g.prune(list.Items)
	return list.Items, nil
}

// Close keeps the gate of a cluster closed for a restore that this process runs. what
// names it, without a full stop.
func (g *Gate) Close(namespace, cluster, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed[types.NamespacedName{Namespace: namespace, Name: cluster}] = what
}

// Open ends what Close began. The stores of the cluster's backups are asked once more
// before the gate opens.
func (g *Gate) Open(namespace, cluster string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.closed, types.NamespacedName{Namespace: namespace, Name: cluster})
	for id, a := range g.stores {
		if a.namespace == namespace && a.cluster == cluster {
			delete(g.stores, id)
		}
	}
}

// running are the restores that this process runs.
func (g *Gate) running(namespace, cluster string) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if cluster != "" {
		return restoring(g.closed[types.NamespacedName{Namespace: namespace, Name: cluster}])
	}
	return restoring(slices.Sorted(maps.Values(g.closed))...)
}

// restoring says that restores are on their way; nothing if none is.
func restoring(what ...string) string {
	text := strings.Join(what, "; ")
	if text == "" {
		return ""
	}
	return "A restore is on its way, and nothing that cannot be undone is done before its end: " + text +
		". See quorate operation list; a restore that does not go on is finished by quorate restore --recover-cluster."
}
