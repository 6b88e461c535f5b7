package kube

import (
	"context"
	"fmt"

	"github.com/quorate/quorate/cel"
)

// Reader reads objects of our own group, as Live does.
type Reader interface {
	// Get returns the object; found is false where the API server knows that it
	// does not exist. An API server that cannot tell is an error.
	Get(ctx context.Context, resource, namespace, name string) (object map[string]any, found bool, err error)
	// List returns every object of the namespace, each a map[string]any.
	List(ctx context.Context, resource, namespace string) ([]any, error)
}

// Read gives what a rule wants to know: the object, null where there is none, or
// the namespace's list. A panic is an error: where reads run beside each other, it
// would end the process, and with it the gate for everybody.
func Read(ctx context.Context, from Reader, t cel.LiveTarget) (value any, err error) {
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("the reader crashed: %v", p)
		}
	}()
	if t.Name == "" {
		return from.List(ctx, t.Resource, t.Namespace)
	}
	object, found, err := from.Get(ctx, t.Resource, t.Namespace, t.Name)
	if err != nil || !found {
		return nil, err
	}
	return object, nil
}
