package webhooks

import (
	"fmt"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/quorate/quorate/cel"
)

func TestAdvice(t *testing.T) {
	const (
		two   = "spec.replicas: 2 members survive the loss of 0, no more than 1 would: use 1 or 3"
		four  = "spec.replicas: 4 members survive the loss of 1, no more than 3 would: use 3 or 5"
		eight = "spec.replicas: 8 members survive the loss of 3, no more than 7 would: use 7 or 9"
		slow8 = "spec.replicas: with 8 members each write waits for 5 of them: use 7 or fewer"
		slow9 = "spec.replicas: with 9 members each write waits for 5 of them: use 7 or fewer"
	)
	bare := map[string]any{"kind": "Etcd"}
	for _, tt := range []struct {
		name     string
		old, new map[string]any
		want     []string
	}{
		{"created at 3", nil, object(3), nil},
		{"created at 2", nil, object(2), []string{two}},
		{"created at 0", nil, object(0), nil},
		{"created at a negative size", nil, object(-2), nil},
		{"created without a size", nil, bare, nil},
		{"3 to 4", object(3), object(4), []string{four}},
		{"4 to 3", object(4), object(3), nil},
		{"4 as it was", object(4), object(4), nil},
		{"4 to 0", object(4), object(0), nil},
		{"0 to 4", object(0), object(4), []string{four}},
		{"none to 4", bare, object(4), []string{four}},
		{"5 to 7", object(5), object(7), nil},
		{"7 to 8", object(7), object(8), []string{eight, slow8}},
		{"7 to 9", object(7), object(9), []string{slow9}},
		{"9 as it was", object(9), object(9), nil},
		{"deleted", object(4), nil, nil},
		{"a size in words", nil, map[string]any{"spec": map[string]any{"replicas": "four"}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := advice(advisedKind, &cel.Request{Object: tt.new, OldObject: tt.old}); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := advice(schema.GroupKind{Group: "quorate.dev", Kind: "TalosCluster"}, &cel.Request{Object: object(4)}); got != nil {
		t.Errorf("advice for another kind: %q", got)
	}
}

// Warnings reach the user, on scale requests too, and not with a refusal.
func TestWarnings(t *testing.T) {
	const four = "spec.replicas: 4 members survive the loss of 1, no more than 3 would: use 3 or 5"
	f := newFixture(t)
	f.lives(3, "7")
	ratcheted := "spec.etcd: Forbidden: as before (r)"
	f.judge.verdict = func(*cel.Request) cel.Verdict { return cel.Verdict{Outcome: cel.Allow, Warnings: []string{ratcheted}} }
	for name, body := range map[string]string{"update": reviewOf(fields{"object": etcd(4)}), "scale": reviewOf(scaling(`{"replicas":4}`))} {
		if got, want := f.ask(t, body).Warnings, []string{ratcheted, four}; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	f.judge.verdict = denying(blocked)
	if got := f.ask(t, reviewOf(fields{"object": etcd(4)})).Warnings; len(got) != 0 {
		t.Errorf("a refusal with advice: %q", got)
	}
}

// A Warning header that is too long is cut off or dropped on its way.
func TestAdviceIsShort(t *testing.T) {
	for size := range int64(100) {
		for _, text := range advice(advisedKind, &cel.Request{Object: object(size)}) {
			if len(text) > 120 {
				t.Error(fmt.Sprint(len(text), " characters: ", text))
			}
		}
	}
}
