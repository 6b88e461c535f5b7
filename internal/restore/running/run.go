package running

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/restore"
)

// errStopped: this process is on its way out.
var errStopped = errors.New("no job is started any more: the process ends")

func (j *Jobs) run(cluster types.NamespacedName, folder *restore.Folder, a Access, m *restore.Marker) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ctx.Err() != nil {
		return errStopped
	}
	if r := j.of[cluster]; r != nil && !r.ended() {
		return nil
	}
	world, err := j.o.Open(a)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(j.ctx)
	r := &running{cancel: cancel, done: make(chan struct{})}
	j.of[cluster] = r
	job := j.job(cluster, folder, world, m)
	j.changed(cluster, true)
	go func() {
		defer cancel()
		result, err := job.Run(ctx)
		if kept := j.leave(world, folder, result); kept != nil {
			j.o.Log.Error(kept, "the folder of a restore that is not this process's any more stays, with the snapshot in plain", "cluster", cluster.String())
		}
		err = errors.Join(err, world.Close())
		j.mu.Lock()
		r.result, r.err = result, err
		close(r.done)
		j.mu.Unlock()
		j.o.Log.Info("the job of a restore has ended", "cluster", cluster.String(), "outcome", result.Outcome, "why", result.Why, "error", errText(err))
		j.changed(cluster, false)
	}()
	return nil
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (j *Jobs) job(cluster types.NamespacedName, folder *restore.Folder, w *World, m *restore.Marker) *restore.Job {
	job := &restore.Job{
		Nodes: w.Nodes, Etcd: w.Etcd, Desk: folder, Decrypt: w.Decrypt, Clock: j.o.Clock, Identity: j.o.Identity,
		Log: j.o.Log.WithValues("cluster", cluster.String()), Limits: j.o.Limits, Here: Here(m.Nodes, j.o.NodeName),
		Report: func(p restore.Progress) { j.report(cluster, p) },
	}
	if w.Store != nil {
		job.Store = w.Store
	}
	return job
}

// Here is the control plane whose Node has a name; empty if none has.
func Here(nodes []restoring.Node, nodeName string) string {
	for _, n := range nodes {
		if nodeName != "" && n.ControlPlane() && n.NodeName == nodeName {
			return n.Machine
		}
	}
	return ""
}

func (j *Jobs) report(cluster types.NamespacedName, p restore.Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.of[cluster]; r != nil {
		r.progress = p
	}
}

func (j *Jobs) changed(cluster types.NamespacedName, running bool) {
	if j.o.Changed != nil {
		j.o.Changed(cluster, running)
	}
}

func (r *running) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// State is how the cluster's job is; false if this process has had none.
func (j *Jobs) State(cluster types.NamespacedName) (State, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.of[cluster]
	if r == nil {
		return State{}, false
	}
	return State{!r.ended(), r.progress, r.result, r.err}, true
}

// Running tells whether any job is at work.
func (j *Jobs) Running() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.of {
		if !r.ended() {
			return true
		}
	}
	return false
}

// End stops the cluster's job, and erases its folder.
func (j *Jobs) End(ctx context.Context, cluster types.NamespacedName) error {
	j.mu.Lock()
	r := j.of[cluster]
	j.mu.Unlock()
	if r != nil {
		r.cancel()
		select {
		case <-r.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	folder, err := j.Folder(cluster)
	if err != nil {
		return err
	}
	if err := folder.Erase(); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.of[cluster] == r {
		delete(j.of, cluster)
	}
	return nil
}

// Stop ends all jobs and waits for them; the folders stay for the next process.
func (j *Jobs) Stop() {
	j.stop()
	j.mu.Lock()
	var open []*running
	for _, r := range j.of {
		open = append(open, r)
	}
	j.mu.Unlock()
	for _, r := range open {
		<-r.done
	}
}
