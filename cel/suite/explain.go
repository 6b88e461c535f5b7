package suite

import (
	"context"
	"errors"
	"fmt"

	"github.com/quorate/quorate/cel"
)

// Explained is how a rule judged a request, and every layer's verdict on it.
type Explained struct {
	Verdicts    []LayerVerdict   `json:"verdicts"`
	Explanation *cel.Explanation `json:"explanation"`
}

// LayerVerdict is what a layer says of a request, all its rules together.
type LayerVerdict struct {
	Layer   cel.Layer   `json:"layer"`
	Verdict cel.Verdict `json:"verdict"`
}

// Errors of Explain.
var (
	ErrNoRule = errors.New("no such rule")
	ErrNoCase = errors.New("no such case")
)

// Case finds a case by its name.
func (f *File) Case(name string) (*Case, error) {
	for _, c := range f.Cases {
		if c.Name == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: %q in %s", ErrNoCase, name, f.Path)
}

// ObjectsCase makes a case of two objects, as from files; file is named in
// errors. Without a new object it is a deletion, without an old one a creation.
func ObjectsCase(file string, before, after map[string]any) *Case {
	c := &Case{Name: file, At: Position{File: file}, Old: before, New: after, User: DefaultUser, source: source{file: file}}
	if after == nil {
		c.Operation = cel.Delete
	}
	c.Operation = operationOf(c)
	return c
}

// Explain tells how a rule judges a case's request.
func (f *Folder) Explain(ctx context.Context, ruleID string, c *Case) (*Explained, error) {
	rule, ok := f.Catalogue.Rule(ruleID)
	if !ok {
		return nil, fmt.Errorf("%w: %q", ErrNoRule, ruleID)
	}
	k, err := f.kind(rule.Resource)
	if err != nil {
		return nil, err
	}
	b, err := newBench(f)
	if err != nil {
		return nil, err
	}
	t, err := b.prepare(rule, k, c)
	if err != nil {
		return nil, err
	}
	out := &Explained{}
	for _, layer := range layers {
		if b.layers[layer] != nil {
			out.Verdicts = append(out.Verdicts, LayerVerdict{layer, b.ask(ctx, layer, t)})
		}
	}
	out.Explanation, err = b.whole.Explain(ctx, ruleID, t.request)
	return out, err
}
