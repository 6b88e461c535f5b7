package restored

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/test/cluster"
)

// outcome is how a restore ended.
type outcome string

const (
	completed outcome = "Completed"
	byCommand outcome = "Completed, after the command that was named"
	unchanged outcome = "Paused, and nothing was changed"
)

// trial is a restore in whose course something goes wrong.
type trial struct {
	*testing.T
	door     *door
	lineages *lineages
	order    *v1alpha1.TalosOperation
	last     *v1alpha1.TalosOperation // as it was seen last
	step     v1alpha1.RestoreStep
	// alone is since when neither an API server nor a manager was seen.
	alone   time.Time
	persons int
}

// trials counts them, for their names.
var trials int

// try has a restore with something wrong at a point, wants it to end well, and tells how it
// ended. The world is as before then.
func try(t *testing.T, at point) (r *trial, end outcome) {
	t.Helper()
	ctx := within(t)
	must(t, shared.ManagerReady(ctx))
	must(t, shared.Ready(ctx))
	must(t, shared.Write(ctx, "kept", "before"))
	must(t, shared.Write(ctx, "deleted-by-mistake", "before"))
	must(t, shared.Delete(ctx, "later"))
	snapshot, err := shared.TakeBackup(ctx, Backup)
	must(t, err)
	must(t, shared.Write(ctx, "kept", "after"))
	must(t, shared.Delete(ctx, "deleted-by-mistake"))
	must(t, shared.Write(ctx, "later", "after"))

	trials++
	r = &trial{T: t, door: open(t, at), lineages: watchLineages(t), order: Order(fmt.Sprintf("trial-%d", trials), Backup, snapshot)}
	defer r.door.close()
	must(t, shared.Client.Create(ctx, r.order))
	end = r.follow(ctx)
	r.door.close()
	r.check(end)
	return r, end
}

// follow waits for the end, and does what a person has to.
func (r *trial) follow(ctx context.Context) (end outcome) {
	must(r.T, cluster.Until(ctx, "the restore to end", func(ctx context.Context) error {
		o := &v1alpha1.TalosOperation{}
		err := r.get(ctx, o)
		if client.IgnoreNotFound(err) != nil {
			return r.orphaned(err)
		}
		r.alone = time.Time{}
		if err != nil {
			return err // the rewind took it
		}
		r.last = o
		r.saw(o)
		end = r.ended(o)
		if end == "" {
			return fmt.Errorf("%w: %s, %+v", errNotYet, o.Status.Phase, o.Status.EtcdRestore)
		}
		return nil
	}))
	return end
}

func (r *trial) get(ctx context.Context, o *v1alpha1.TalosOperation) error {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	return shared.Client.Get(ctx, client.ObjectKeyFromObject(r.order), o)
}

// saw tells the door of a step. A rewound status says one of before.
func (r *trial) saw(o *v1alpha1.TalosOperation) {
	if s := o.Status.EtcdRestore; s != nil && s.Step != r.step && s.Step != "" {
		r.step = s.Step
		r.door.step(string(s.Step))
	}
}

func (r *trial) ended(o *v1alpha1.TalosOperation) outcome {
	switch {
	case o.Status.Phase == v1alpha1.PhasePaused && strings.Contains(o.Status.FailureReason, "othing was changed"):
		return unchanged
	case o.Status.Phase == v1alpha1.PhasePaused:
		r.Fatalf("%s: paused: %s", r.door.at, o.Status.FailureReason)
	case o.Status.Phase == v1alpha1.PhaseCompleted && r.persons > 0:
		return byCommand
	case o.Status.Phase == v1alpha1.PhaseCompleted:
		return completed
	}
	return ""
}

// patience is how long nobody has to be at work for a person to be called.
const patience = 10 * time.Second

// orphaned has a person type the command where no API server is, and no manager that has
// the restore in its folder: one that took the place of a lost pod may have it as well.
func (r *trial) orphaned(err error) error {
	switch {
	case shared.ManagerRuns() && hasJob():
		r.alone = time.Time{}
	case r.alone.IsZero():
		r.alone = time.Now()
	case time.Since(r.alone) > patience:
		if r.door.command == "" {
			r.Fatalf("%s: nobody is at work, and the manager had named no way out", r.door.at)
		}
		r.alone = time.Time{}
		r.persons++
		byHand(r.T, r.door.command)
	}
	return err
}

// hasJob tells whether the restore is in the folder of the pod that was seen last.
func hasJob() bool {
	_, err := os.Stat(filepath.Join(shared.JobPath(), "restores", Namespace+"_"+Cluster, "marker.json"))
	return err == nil
}

func (r *trial) check(end outcome) {
	r.Helper()
	ctx := within(r.T)
	extra, nodes := r.door.wipes.extra(), r.door.wipes.nodes()
	if end == unchanged {
		if nodes > 0 {
			r.Errorf("%s: %s, and %d nodes were wiped", r.door.at, end, nodes)
		}
		r.as("after", "", "after")
		must(r.T, client.IgnoreNotFound(shared.Client.Delete(ctx, r.last)))
	} else {
		if told := extraWipes(r.last); nodes != 3 || extra > told {
			r.Errorf("%s: %d nodes were wiped and %d times more, and %d times are told of: %s", r.door.at, nodes, extra, told, r.last.Status.EtcdRestore.Message)
		}
		r.as("before", "before", "")
	}
	r.lineages.end(r.T, end != unchanged)
	if left := r.door.wipes.left(); len(left) > 0 {
		r.Errorf("%s: %s, and the store has %q", r.door.at, end, left)
	}
	must(r.T, shared.ManagerReady(ctx))
	must(r.T, shared.Ready(ctx))
}

// as wants a user's objects to say this.
func (r *trial) as(kept, deleted, later string) {
	r.Helper()
	has(r.T, "kept", kept)
	has(r.T, "deleted-by-mistake", deleted)
	has(r.T, "later", later)
}
