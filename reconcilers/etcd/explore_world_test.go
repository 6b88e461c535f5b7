package etcd

import (
	"context"
	"testing"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/cel/rules"
	"github.com/quorate/quorate/manifests"
)

// gate asks the product's own rules whether an edit of spec.replicas is admitted.
type gate struct {
	t       *testing.T
	engine  *cel.Engine
	answers map[question]bool
	lists   map[listQuestion]bool
}

type question struct {
	from, to, last int8
	op             record
	stalled        bool
}

func newGate(t *testing.T) *gate {
	t.Helper()
	catalogue, err := cel.Load(rules.FS, ".")
	if err != nil {
		t.Fatal(err)
	}
	catalogue.Group = v1alpha1.Group
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatal(err)
	}
	engine, err := cel.New(catalogue, crds)
	if err != nil {
		t.Fatal(err)
	}
	return &gate{t, engine, map[question]bool{}, map[listQuestion]bool{}}
}

func (g *gate) admits(m model, to int8) bool {
	q := question{m.spec, to, m.last, m.op, m.stalled}
	if answer, known := g.answers[q]; known {
		return answer
	}
	before := q.object(q.from)
	verdict := g.engine.Judge(context.Background(), &cel.Request{
		Operation: cel.Update, Resource: "etcds", Namespace: "plant", Name: "main", OldObject: before, Object: q.object(to),
	})
	if verdict.Outcome == cel.RuleError {
		g.t.Fatalf("%+v: %+v", q, verdict)
	}
	g.answers[q] = verdict.Outcome == cel.Allow
	return g.answers[q]
}

func (q question) object(replicas int8) map[string]any {
	status := map[string]any{"replicas": int64(0)}
	if q.last > 0 {
		status["hibernatedReplicas"] = int64(q.last)
	}
	reason, on := v1alpha1.ReasonNoScaleOperation, "False"
	if q.op.kind != "" {
		reason, on = string(q.op.kind), "True"
		status["scaleOperation"] = map[string]any{
			"type": reason, "generation": int64(1), "from": int64(q.op.from), "to": int64(q.op.to), "startedAt": "2026-01-31T02:00:00Z",
		}
	}
	conditions := []any{condition(v1alpha1.ConditionScaleOperationInProgress, on, reason)}
	if q.stalled {
		conditions = append(conditions, condition(v1alpha1.ConditionStalled, "True", v1alpha1.ReasonDeadlineExceeded))
	}
	status["conditions"] = conditions
	return map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "Etcd",
		"metadata": map[string]any{"name": "main", "namespace": "plant", "resourceVersion": "1"},
		"spec":     map[string]any{"replicas": int64(replicas)}, "status": status,
	}
}

func condition(kind, status, reason string) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": "", "lastTransitionTime": "2026-01-31T02:00:00Z"}
}

// moves are all that the world can do next besides the controller.
func (g *gate) moves(m model) []model {
	out := pods(m)
	if m.edits > 0 {
		for to := range int8(places + 1) {
			if to != m.spec && g.admits(m, to) {
				next := m
				next.spec, next.edits, next.stale = to, m.edits-1, true
				out = append(out, next)
			}
		}
	}
	if m.op.kind != "" && !m.stalled && m.spec > 0 && m.step == stepRead {
		next := m
		next.stalled = true // the deadline has passed, and the controller said so
		out = append(out, next)
	}
	for i := range places {
		next := m
		if m.up[i] {
			if m.failures == 0 {
				continue
			}
			next.failures--
		}
		next.up[i] = !m.up[i]
		out = append(out, next)
	}
	if m.step != stepRead {
		out = append(out, m.restart()) // the controller dies
	}
	return out
}

// pods are the moves of members and their agents.
func pods(m model) (out []model) {
	learning := false
	for _, s := range m.seats {
		learning = learning || s == learner
	}
	if next := found(m); !m.born && next.born {
		out = append(out, next)
	}
	for i := range places {
		if !m.runs(i) {
			continue
		}
		next := m
		switch {
		case !m.born && m.disks[i] == empty && i < int(m.told) && !m.formed:
			next.disks[i], next.began[i] = current, m.told
		case m.seats[i] == unstarted && m.born:
			next.seats[i], next.disks[i] = voter, current // a late founder
		case m.seats[i] == learner && m.quorate():
			next.seats[i], next.disks[i] = voter, current
		case m.seats[i] == absent && m.disks[i] == empty && i < int(m.belongs) && m.formed && m.quorate() && !learning:
			next.seats[i], next.disks[i], next.ledger[i] = learner, current, unknown
		default:
			continue
		}
		out = append(out, next)
	}
	return out
}

// found forms the cluster once a quorum of its founders runs.
func found(m model) model {
	for size := int8(1); size <= places; size++ {
		running := int8(0)
		for i := range places {
			if m.began[i] == size && m.runs(i) {
				running++
			}
		}
		if running < size/2+1 {
			continue
		}
		m.born = true
		for i := range size {
			m.seats[i] = unstarted
			if m.began[i] == size {
				m.seats[i] = voter
			}
		}
		return m
	}
	return m
}

// torn tells whether founders were set up for clusters of different sizes.
func torn(m model) bool {
	size := int8(0)
	for i := range places {
		if m.disks[i] != current || m.began[i] == 0 {
			continue
		}
		if size != 0 && m.began[i] != size {
			return true
		}
		size = m.began[i]
	}
	return false
}
