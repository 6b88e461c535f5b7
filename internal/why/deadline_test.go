package why

import (
	"context"
	"errors"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWarningsAreHandedOn(t *testing.T) {
	s := &server{user: "alice", live: quorate(t, scalingIn)}
	object := quorate(t, "kind: Etcd\nmetadata: {name: a}\nspec: {replicas: 1}")
	report, err := Run(context.Background(), Config{Server: s, Asks: []Ask{{Target: targetOf(object), Object: object}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := report.Cases[0].Warnings; len(got) != 1 || got[0] != "think twice" {
		t.Errorf("got %q", got)
	}
}

// The object may change between reading it and asking: then the plan is outdated.
func TestConflictIsPlannedAnew(t *testing.T) {
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "etcds"}, "a", errors.New("modified"))
	object := quorate(t, "kind: Etcd\nmetadata: {name: a}\nspec: {replicas: 1}")
	for _, tc := range []struct {
		answers []error
		sent    int
		verdict Outcome
	}{
		{[]error{conflict, nil}, 2, Allow},
		{[]error{conflict}, tries, Deny},
	} {
		s := &server{user: "alice", live: quorate(t, scalingIn), answers: tc.answers}
		report, err := Run(context.Background(), Config{Server: s, Asks: []Ask{{Target: targetOf(object), Object: object}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.sent) != tc.sent || report.Cases[0].Verdict != tc.verdict {
			t.Errorf("sent %d times, %s; want %d, %s", len(s.sent), report.Cases[0].Verdict, tc.sent, tc.verdict)
		}
	}
}

// A server that gives no verdict is an error, not a refusal.
func TestNoVerdict(t *testing.T) {
	object := quorate(t, "kind: Etcd\nmetadata: {name: a}")
	s := &server{user: "alice", answers: []error{context.DeadlineExceeded}}
	_, err := Run(context.Background(), Config{Server: s, Asks: []Ask{{Target: targetOf(object), Object: object}}})
	if !errors.Is(err, context.DeadlineExceeded) || err.Error() != "ask about etcds.quorate.dev/a: context deadline exceeded" {
		t.Errorf("got %v", err)
	}
	_, err = Run(context.Background(), Config{Server: s, Asks: []Ask{{Target: targetOf(object), Object: object, Subresource: "exec"}}})
	if !errors.Is(err, ErrAsk) {
		t.Errorf("got %v, want %v", err, ErrAsk)
	}
}

// blocked never answers before its deadline.
type blocked struct{ *server }

var errNoDeadline = errors.New("a call without a deadline")

func (blocked) Get(ctx context.Context, _ Target) (*unstructured.Unstructured, error) {
	if _, ok := ctx.Deadline(); !ok {
		return nil, errNoDeadline
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestEveryCallHasADeadline(t *testing.T) {
	object := quorate(t, "kind: Etcd\nmetadata: {name: a}")
	_, err := Run(context.Background(), Config{Server: blocked{&server{user: "alice"}}, Timeout: 20 * time.Millisecond,
		Asks: []Ask{{Target: targetOf(object), Object: object}}})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline", err)
	}
}
