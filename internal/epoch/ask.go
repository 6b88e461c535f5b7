package epoch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/conditions"
)

const (
	// askTimeout bounds one question to a store.
	askTimeout = 10 * time.Second
	// atOnce is how many stores are asked at once.
	atOnce = 8
	// firstPause and lastPause bound the time between two questions to a store that
	// does not answer; each is twice the one before.
	firstPause = time.Second
	lastPause  = time.Minute
	// markedPause is the time between two questions to a store that has a marker.
	markedPause = 10 * time.Second
)

// ask is what is known of one store. A store without a marker is not asked again in the
// term: the restores that begin in it are this process's own, or rewind the API server,
// which its revision tells.
type ask struct {
	namespace, cluster string
	generation         int64 // of the backup: a changed one may name another store

	asking   bool
	answered bool
	found    string // what the last answer named
	err      error
	next     time.Time
	pause    time.Duration
}

func (a *ask) clean() bool { return a.answered && a.found == "" }

// due are the questions to put now; each is put by one at a time.
func (g *Gate) due(backups []v1alpha1.TalosEtcdBackup) map[*ask]*v1alpha1.TalosEtcdBackup {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := map[*ask]*v1alpha1.TalosEtcdBackup{}
	for i := range backups {
		b := &backups[i]
		a := g.stores[b.UID]
		if a == nil || a.generation != b.Generation {
			a = &ask{namespace: b.Namespace, cluster: b.Spec.ClusterRef.Name, generation: b.Generation}
			g.stores[b.UID] = a
		}
		if !a.asking && !a.clean() && !g.clock.Now().Before(a.next) {
			a.asking, out[a] = true, b
		}
	}
	return out
}

func (g *Gate) askAll(ctx context.Context, backups []v1alpha1.TalosEtcdBackup) {
	var all errgroup.Group
	all.SetLimit(atOnce)
	for a, b := range g.due(backups) {
		all.Go(func() error {
			g.ask(ctx, a, b)
			return nil
		})
	}
	_ = all.Wait() // what went wrong is kept with each store
}

func (g *Gate) ask(ctx context.Context, a *ask, b *v1alpha1.TalosEtcdBackup) {
	bounded, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	found, err := g.marks.Marked(bounded, b)
	g.mu.Lock()
	defer g.mu.Unlock()
	a.asking = false
	if ctx.Err() != nil {
		return // whoever asked is gone, and the answer says nothing of the store
	}
	a.take(found, err, g.clock.Now())
	g.log.Info("asked a store for the marker of a restore", "backup", b.Namespace+"/"+b.Name, "found", found, "error", fmt.Sprint(err))
}

// take keeps an answer, and when to ask again.
func (a *ask) take(found string, err error, now time.Time) {
	a.err = err
	if err != nil {
		a.pause = min(max(2*a.pause, firstPause), lastPause)
		a.next = now.Add(a.pause)
		return
	}
	a.answered, a.found, a.pause, a.next = true, found, 0, now.Add(markedPause)
}

// forget drops what the stores have said: it was of another timeline.
func (g *Gate) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stores = map[types.UID]*ask{}
}

// prune drops what is known of stores whose backup is gone.
func (g *Gate) prune(backups []v1alpha1.TalosEtcdBackup) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.stores
	g.stores = map[types.UID]*ask{}
	for i := range backups {
		if a := before[backups[i].UID]; a != nil {
			g.stores[backups[i].UID] = a
		}
	}
}

// answers are what keeps the gate closed; nothing if all stores are without a marker.
func (g *Gate) answers(backups []v1alpha1.TalosEtcdBackup) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var found, silent []string
	for i := range backups {
		b := &backups[i]
		switch a := g.stores[b.UID]; {
		case a == nil:
			silent = append(silent, storeText(b)+" is to be asked.")
		case a.err != nil:
			silent = append(silent, a.silence(b))
		case a.found != "":
			found = append(found, a.found)
		case !a.answered:
			silent = append(silent, storeText(b)+" is being asked just now.")
		}
	}
	texts := append(silent, restoring(found...))
	if len(silent) > 0 {
		texts = append([]string{"Nothing that cannot be undone is done before it is known that no restore is on its way."}, texts...)
	}
	return strings.TrimSpace(strings.Join(texts, " "))
}

// silence says that a store does not tell, and the way out.
func (a *ask) silence(b *v1alpha1.TalosEtcdBackup) string {
	text := fmt.Sprintf("%s does not tell: %s. It is asked again; make it answer, or delete the TalosEtcdBackup if the store is gone for good.",
		storeText(b), conditions.OneLine(a.err))
	if a.found != "" {
		text += " When it last answered it had the marker of a restore: " + a.found + "."
	}
	return text
}

// storeText names a store and its backup, e.g. "The store of TalosEtcdBackup prod/nightly
// (bucket backups at https://s3.example.com, folder prod)".
func storeText(b *v1alpha1.TalosEtcdBackup) string {
	s := b.Spec.ObjectStore
	at := s.Endpoint
	if at == "" {
		at = "AWS, region " + s.Region
	}
	where := "bucket " + s.Bucket + " at " + at
	if s.Prefix != "" {
		where += ", folder " + s.Prefix
	}
	return fmt.Sprintf("The store of TalosEtcdBackup %s/%s (%s)", b.Namespace, b.Name, where)
}
