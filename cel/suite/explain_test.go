package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/quorate/quorate/cel"
)

func TestExplainCase(t *testing.T) {
	folder := sampleFolder(t)
	c, err := folder.Files[0].Case("fewer through scale while busy")
	if err != nil {
		t.Fatal(err)
	}
	got, err := folder.Explain(context.Background(), "no-shrink", c)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for _, v := range got.Verdicts {
		verdicts = append(verdicts, fmt.Sprintf("%s %s", v.Layer, v.Verdict.Outcome))
	}
	if want := []string{"crd deny", "webhook deny", "vap skip"}; !slices.Equal(verdicts, want) {
		t.Errorf("got %v", verdicts)
	}
	if got.Explanation.Value != "false" {
		t.Errorf("got %s", got.Explanation.Value)
	}
}

func TestExplainObjects(t *testing.T) {
	type object = map[string]any
	before := object{"spec": object{"color": "red", "replicas": int64(3)}}
	after := object{"spec": object{"color": "red", "replicas": int64(1)}}
	tests := map[string]struct {
		before, after object
		operation     cel.Operation
		value         string
	}{
		"update":   {before, after, cel.Update, "true"},
		"creation": {nil, after, cel.Create, "not judged"},
		"deletion": {before, nil, cel.Delete, "not judged"},
	}
	folder := sampleFolder(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := ObjectsCase("new.yaml", test.before, test.after)
			if c.Operation != test.operation {
				t.Errorf("got %s", c.Operation)
			}
			got, err := folder.Explain(context.Background(), "no-shrink", c)
			if err != nil {
				t.Fatal(err)
			}
			if got.Explanation.Value != test.value {
				t.Errorf("got %q", got.Explanation.Value)
			}
		})
	}
}

func TestExplainProblems(t *testing.T) {
	folder := sampleFolder(t)
	if _, err := folder.Files[0].Case("x"); !errors.Is(err, ErrNoCase) || err.Error() != `no such case: "x" in widgets/no-shrink_test.yaml` {
		t.Errorf("got %v", err)
	}
	c := ObjectsCase("new.yaml", nil, map[string]any{"spec": map[string]any{"colour": "red"}})
	if _, err := folder.Explain(context.Background(), "x", c); !errors.Is(err, ErrNoRule) || err.Error() != `no such rule: "x"` {
		t.Errorf("got %v", err)
	}
	_, err := folder.Explain(context.Background(), "no-shrink", c)
	if err == nil || err.Error() != `new.yaml: new: unknown field "spec.colour"` {
		t.Errorf("got %v", err)
	}
}
