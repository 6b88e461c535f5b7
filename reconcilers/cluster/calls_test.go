package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// call is one that leaves the process.
func (w *world) call(name string, do func() error) error {
	p := w.process
	if p.dead {
		return errKilled
	}
	p.calls = append(p.calls, name)
	last := len(p.calls) == p.killAt
	if before := p.on[name]; before != nil {
		delete(p.on, name)
		before()
	}
	if last && !p.killAfter {
		p.dead = true
		return errKilled
	}
	err := w.broken[name]
	if err == nil {
		err = do()
	}
	if last {
		p.dead = true
		return errKilled
	}
	return err
}

// bounded is a call with what is left of its time, which it must have.
func (w *world) bounded(ctx context.Context, name string, do func() error) error {
	end, ok := ctx.Deadline()
	if !ok {
		w.t.Errorf("%s has no deadline", name)
	}
	w.left[name] = time.Until(end)
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.call(name, do)
}

// client is the API server as the process reaches it.
func (w *world) client() client.Client {
	kind := func(o client.Object) string {
		return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1alpha1."))
	}
	return interceptor.NewClient(w.api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return w.bounded(ctx, "get "+kind(o), func() error { return c.Get(ctx, key, o, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return w.bounded(ctx, "create "+kind(o), func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return w.bounded(ctx, "update "+kind(o), func() error { return c.Update(ctx, o, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
			return w.bounded(ctx, "write "+sub, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
		},
	})
}

// lock names the calls of a hold; the Lease behind it is a real one.
func (w *world) lock(take Lock) Lock {
	return func(ctx context.Context, cluster types.NamespacedName, operation string) (Hold, error) {
		if w.dead {
			return nil, errKilled
		}
		w.calls = append(w.calls, "lock "+operation)
		return take(ctx, cluster, operation)
	}
}
