package kube

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/quorate/quorate/cel"
)

// scripted is a reader whose object's name says what becomes of a read.
type scripted struct{}

var errAway = errors.New("away")

func (scripted) Get(_ context.Context, _, _, name string) (map[string]any, bool, error) {
	switch name {
	case "gone":
		return map[string]any{"not": "shown"}, false, nil
	case "away":
		return map[string]any{"not": "shown"}, true, errAway
	case "crash":
		panic("planted")
	}
	return map[string]any{"name": name}, true, nil
}

func (scripted) List(_ context.Context, _, namespace string) ([]any, error) {
	if namespace == "crash" {
		panic("planted")
	}
	return []any{namespace}, nil
}

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		target cel.LiveTarget
		want   any
		err    string
	}{
		{cel.LiveTarget{Namespace: "ns", Name: "c"}, map[string]any{"name": "c"}, ""},
		{cel.LiveTarget{Namespace: "ns", Name: "gone"}, nil, ""},
		{cel.LiveTarget{Namespace: "ns", Name: "away"}, nil, "away"},
		{cel.LiveTarget{Namespace: "ns", Name: "crash"}, nil, "the reader crashed: planted"},
		{cel.LiveTarget{Namespace: "ns"}, []any{"ns"}, ""},
		{cel.LiveTarget{Namespace: "crash"}, nil, "the reader crashed: planted"},
	} {
		got, err := Read(t.Context(), scripted{}, tt.target)
		if !reflect.DeepEqual(got, tt.want) || text(err) != tt.err {
			t.Errorf("%+v: got %v, %v, want %v, %q", tt.target, got, err, tt.want, tt.err)
		}
	}
}
