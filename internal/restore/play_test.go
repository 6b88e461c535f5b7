package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
)

// play is one restore from its marker to its end, with one fault on its way.
type play struct {
	// own is the control plane that hosts the controller; empty if none does.
	own string
	// podLost has a process that died come back as another one without its folder.
	podLost bool
	fault   fault
	prepare func(*world, *Marker)
	limits  Limits
	workers int
	planes  int

	w       *world
	calls   *calls
	began   time.Time
	desk    *shelfDesk
	first   *shelfDesk // the first process's
	id      int
	ordered bool
	// persons counts how often a person had to run the command.
	persons int
	notes   []string
	result  Result
}

func newPlay() *play { return &play{workers: 1, planes: 3, limits: Limits{Poll: 10 * time.Second}} }

// begin makes the world as preparing leaves it.
func (p *play) begin() {
	w := &world{store: &shelf{objects: map[string]object{}}, at: time.Now(), lastID: 100}
	old := &lineage{name: "the old etcd", revision: oldRevision}
	for i := range p.planes + p.workers {
		n := &machine{name: fmt.Sprintf("cp-%c", 'a'+i), address: fmt.Sprintf("192.0.2.%d", i+1), role: v1alpha1.MachineControlPlane,
			upAt: w.at.Add(-time.Hour), resetAfter: 8 * time.Second, rebootFor: 20 * time.Second}
		if i < p.planes {
			w.lastID++
			n.data, n.id = old, w.lastID
			old.members = append(old.members, &member{n.id, n, false})
		} else {
			n.name, n.role = fmt.Sprintf("worker-%d", i-p.planes), v1alpha1.MachineWorker
		}
		w.nodes = append(w.nodes, n)
	}
	w.lineages = []*lineage{old}
	p.w, p.began = w, w.at
	p.calls = &calls{count: map[string]int{}, fault: p.fault}
	p.desk = &shelfDesk{id: "process-0", snapshot: []byte(plaintext)}
	p.first, w.store.desks = p.desk, []*shelfDesk{p.desk}
	w.store.put(PinnedName, []byte("sealed:"+plaintext))
	p.mark()
}

func (p *play) mark() {
	sum := sha256.Sum256([]byte(plaintext))
	m := &Marker{
		Schema: Schema, Fence: 1, Sequence: 1, Owner: Owner{"process-0", p.began.Add(DefaultHold)}, Cluster: "prod", Backup: "nightly",
		Snapshot: Snapshot{Name: "etcd-20300102T150405Z.snapshot.age"}, Pinned: Pinned{PlainSum: hex.EncodeToString(sum[:]), Floor: floor},
		Step: v1alpha1.StepWiping, StartedAt: p.began, LimitsFrom: p.began, Own: p.own,
	}
	for _, n := range p.w.nodes {
		m.Nodes = append(m.Nodes, Node{Machine: n.name, NodeName: n.name, Address: n.address, Role: n.role, Volumes: []string{"ETCD"}})
	}
	m.Target = restoring.Target(m.Nodes, p.own)
	if p.prepare != nil {
		p.prepare(p.w, m)
	}
	data, _ := m.Encode()
	p.w.store.put(MarkerName, data)
	p.desk.marker = data
}

// run plays it to its end, process after process.
func (p *play) run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p.begin()
		for range 60 {
			if p.process() {
				return
			}
		}
		t.Errorf("after 60 processes it is not over: %+v", p.result)
	})
}

// process runs one process, and tells whether the restore is at its end.
func (p *play) process() bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	proc := &process{w: p.w, calls: p.calls, id: p.desk.id, cancel: cancel}
	own := p.host(proc)
	job := &Job{Nodes: proc, Etcd: proc, Store: shop{proc}, Desk: desk{proc, p.desk}, Decrypt: unseal, Identity: p.desk.id,
		Here: own, Ordered: p.ordered, Log: logr.Discard(), Limits: p.limits, Report: func(g Progress) { p.notes = append(p.notes, g.Note) }}
	result, err := job.Run(ctx)
	p.ordered = false
	if err == nil {
		p.result = result
	}
	switch {
	case proc.dead:
		p.reborn(own)
	case err != nil:
		<-time.After(time.Minute) // as a reconcile that failed
	case result.Outcome == Lost:
		<-time.After(max(time.Minute, time.Until(result.Retry)))
	default:
		return true
	}
	return false
}

// host has the process end with its node, and names that node.
func (p *play) host(proc *process) string {
	n := p.w.node(p.own)
	if n == nil || p.id > 0 && p.podLost || p.persons > 0 {
		return ""
	}
	n.onDown = proc.die
	return n.name
}

// reborn waits as the kubelet, the API server or a person would before the next process.
func (p *play) reborn(own string) {
	n := p.w.node(own)
	<-time.After(10 * time.Second)
	down := n != nil && !n.up(time.Now())
	if !down && !p.podLost {
		return // the container is started again in its pod
	}
	for range 60 {
		<-time.After(10 * time.Second)
		p.w.mu.Lock()
		p.w.advance()
		api := p.w.api()
		p.w.mu.Unlock()
		if api && (n == nil || n.up(time.Now())) {
			p.lose()
			return
		}
	}
	p.persons++
	p.ordered = true
	p.lose()
}

// lose has the next process be another one, with nothing in its folder.
func (p *play) lose() {
	p.id++
	p.desk = &shelfDesk{id: fmt.Sprintf("process-%d", p.id)}
	p.w.store.desks = []*shelfDesk{p.desk}
}

// check wants the restore to be done, with all as it must be.
func (p *play) check(t *testing.T) {
	t.Helper()
	for _, f := range p.w.faults {
		t.Errorf("%s: never: %s", p.named(), f)
	}
	if p.result.Outcome != Done {
		t.Errorf("%s: got %s (%s), want Done; the last notes: %v", p.named(), p.result.Outcome, p.result.Why, p.notes[max(0, len(p.notes)-3):])
		return
	}
	last := p.w.lineages[len(p.w.lineages)-1]
	voters := 0
	for _, m := range last.members {
		if !m.learner && m.node.data == last {
			voters++
		}
	}
	if !last.recovered || voters != p.planes {
		t.Errorf("%s: done, and %s has %d voters with data, want %d", p.named(), last.name, voters, p.planes)
	}
	for _, n := range p.w.nodes {
		if n.role == v1alpha1.MachineWorker && n.kubelets == 0 {
			t.Errorf("%s: done, and the kubelet of %s was not restarted", p.named(), n.name)
		}
	}
}

func (p *play) named() string {
	return fmt.Sprintf("own %q, pod lost %t, %s %s", p.own, p.podLost, p.fault.kind, p.fault.point)
}
