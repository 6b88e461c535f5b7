package webhooks

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quorate/quorate/cel"
	"github.com/quorate/quorate/internal/kube"
)

var (
	cluster  = cel.LiveTarget{Resource: "talosclusters", Namespace: "ns", Name: "c"}
	machines = cel.LiveTarget{Resource: "talosmachines", Namespace: "ns"}
)

// What the rules want to know reaches them under its name.
func TestLiveReads(t *testing.T) {
	f := newFixture(t)
	one, list := map[string]any{"kind": "TalosCluster"}, []any{map[string]any{"kind": "TalosMachine"}}
	f.judge.reads = map[string]cel.LiveTarget{"cluster": cluster, "machines": machines, "gone": {Resource: "talosclusters", Namespace: "ns", Name: "gone"}}
	f.world.get = func(_ context.Context, resource, namespace, name string) (map[string]any, bool, error) {
		return one, resource == "talosclusters" && namespace == "ns" && name == "c", nil
	}
	f.world.list = func(_ context.Context, resource, namespace string) ([]any, error) {
		if resource != "talosmachines" || namespace != "ns" {
			return nil, errors.New("asked for another list")
		}
		return list, nil
	}
	if response := f.ask(t, reviewOf(nil)); !response.Allowed {
		t.Fatalf("refused: %+v", plainOf(response.Result))
	}
	want := map[string]any{"cluster": one, "machines": list, "gone": nil}
	if got := f.judge.last(t).Live; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The reads run at the same time: each waits here until all have begun.
func TestLiveReadsAreConcurrent(t *testing.T) {
	f := newFixture(t)
	f.judge.reads = map[string]cel.LiveTarget{"cluster": cluster, "machines": machines}
	var begun atomic.Int32
	all := make(chan struct{})
	meet := func(ctx context.Context) error {
		if begun.Add(1) == 2 {
			close(all)
		}
		select {
		case <-all:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	f.world.get = func(ctx context.Context, _, _, _ string) (map[string]any, bool, error) { return nil, false, meet(ctx) }
	f.world.list = func(ctx context.Context, _, _ string) ([]any, error) { return nil, meet(ctx) }
	if response := f.ask(t, reviewOf(nil)); !response.Allowed {
		t.Errorf("refused: %+v", plainOf(response.Result))
	}
}

// A world that was not seen is not judged.
func TestLiveReadsThatFail(t *testing.T) {
	waiting := func(ctx context.Context, _, _, _ string) (map[string]any, bool, error) {
		<-ctx.Done()
		return nil, false, ctx.Err()
	}
	for _, tt := range []struct {
		name  string
		reads map[string]cel.LiveTarget
		err   error
		world world
		want  plain
	}{
		{"an object", map[string]cel.LiveTarget{"cluster": cluster}, nil,
			world{get: func(context.Context, string, string, string) (map[string]any, bool, error) {
				return nil, false, errors.New("connection refused")
			}},
			plain{503, "ServiceUnavailable", `could not read talosclusters "c" in namespace "ns": connection refused; nothing was changed, retry (live-read)`}},
		{"two", map[string]cel.LiveTarget{"machines": machines, "cluster": cluster}, nil,
			world{get: func(context.Context, string, string, string) (map[string]any, bool, error) {
				return nil, false, errors.New("connection refused")
			}, list: func(context.Context, string, string) ([]any, error) { return nil, errors.New("forbidden") }},
			plain{503, "ServiceUnavailable", `could not read talosclusters "c" in namespace "ns": connection refused; could not read the talosmachines of namespace "ns": forbidden; nothing was changed, retry (live-read)`}},
		{"more than fit", map[string]cel.LiveTarget{"operations": {Resource: "talosoperations", Namespace: "ns"}}, nil,
			world{list: func(context.Context, string, string) ([]any, error) {
				return nil, fmt.Errorf("list: %w: more than 10000", kube.ErrTooMany)
			}},
			plain{503, "ServiceUnavailable", `could not read the talosoperations of namespace "ns": list: too many objects: more than 10000; nothing was changed, and a retry will not help: delete talosoperations that are not needed any more, such as completed operations, and try again then (live-read)`}},
		{"in time", map[string]cel.LiveTarget{"cluster": cluster}, nil, world{get: waiting},
			plain{503, "ServiceUnavailable", `could not read talosclusters "c" in namespace "ns": no answer from the API server within 20ms; nothing was changed, retry (live-read)`}},
		{"by a crash", map[string]cel.LiveTarget{"machines": machines}, nil,
			world{list: func(context.Context, string, string) ([]any, error) { panic("planted") }},
			plain{503, "ServiceUnavailable", `could not read the talosmachines of namespace "ns": the reader crashed: planted; nothing was changed, retry (live-read)`}},
		{"before they begin", nil, errors.New("no such key: spec"), world{},
			plain{500, "InternalError", "what to read for this request could not be worked out: no such key: spec (live-read)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			f.judge.reads, f.judge.readsErr, *f.world, f.options.Budget = tt.reads, tt.err, tt.world, 20*time.Millisecond
			response := f.ask(t, reviewOf(nil))
			if got := plainOf(response.Result); response.Allowed || got != tt.want {
				t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, got, tt.want)
			}
			if len(f.judge.asked) > 0 {
				t.Error("the rules were asked")
			}
		})
	}
}

// One request has one budget, however many questions it asks in turn, and it
// leaves room within the webhook's 5 seconds.
func TestBudgetIsShared(t *testing.T) {
	f := newFixture(t)
	f.judge.reads = map[string]cel.LiveTarget{"cluster": cluster}
	var deadlines []time.Time
	f.world.get = func(ctx context.Context, _, _, _ string) (map[string]any, bool, error) {
		deadline, _ := ctx.Deadline()
		deadlines = append(deadlines, deadline)
		return object(3), true, nil
	}
	start := time.Now()
	f.ask(t, reviewOf(scaling(`{"replicas":5}`)))
	if len(deadlines) != 2 || !deadlines[0].Equal(deadlines[1]) {
		t.Errorf("deadlines %v, want one for both reads", deadlines)
	}
	if left := deadlines[0].Sub(start); left < 2*time.Second || left > 4*time.Second {
		t.Errorf("the reads had %s", left)
	}
}
