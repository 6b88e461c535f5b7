package restore

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/quorate/quorate/internal/store"
)

// call is one that leaves the process: it may die before or after.
func (w *world) call(name string, do func() error) error {
	w.mu.Lock()
	if w.dead {
		w.mu.Unlock()
		return errDied
	}
	w.calls = append(w.calls, name)
	at, broken := len(w.calls) == w.killAt, w.broken[name]
	if at && !w.killAfter {
		w.dead = true
		w.mu.Unlock()
		return errDied
	}
	w.mu.Unlock()
	if broken != nil {
		return broken
	}
	err := do()
	if at {
		w.dead = true
		return errDied
	}
	return err
}

// intercept has every write to the API server be a call. Reads fail once dead.
func (w *world) intercept() interceptor.Funcs {
	name := func(verb string, o client.Object) string { return fmt.Sprintf("%s %T", verb, o) }
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if w.dead {
				return errDied
			}
			return c.Get(ctx, key, o, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return w.call(name("create", o), func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return w.call(name("update", o), func() error { return c.Update(ctx, o, opts...) })
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			return w.call(name("delete", o), func() error { return c.Delete(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			return w.call(name("patch", o), func() error { return c.Patch(ctx, o, p, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return w.call(name("patch "+sub, o), func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	}
}

// mortalStore has every write to the store be a call.
type mortalStore struct {
	store.Store
	w *world
}

func (s mortalStore) Replace(ctx context.Context, name string, data []byte, v store.Version) (out store.Version, err error) {
	err = s.w.call("replace "+name, func() (err error) { out, err = s.Store.Replace(ctx, name, data, v); return err })
	return out, err
}

func (s mortalStore) Remove(ctx context.Context, name string, v store.Version) error {
	return s.w.call("remove "+name, func() error { return s.Store.Remove(ctx, name, v) })
}

func (s mortalStore) Delete(ctx context.Context, name string) error {
	return s.w.call("delete "+name, func() error { return s.Store.Delete(ctx, name) })
}
