package machine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// errDead is what a process hears that was killed.
var errDead = errors.New("the process was killed")

// death is a call, the n-th of its kind, before or after it has acted. A leave goes on
// beside other calls, so that their numbers would tell little.
type death struct {
	what  string
	nth   int
	after bool
}

func (d death) String() string {
	return fmt.Sprintf("killed at call %d of %q, after=%t", d.nth, d.what, d.after)
}

// mortal is a process that is killed at a call, or never. A dead one calls nobody any
// more.
type mortal struct {
	mu    sync.Mutex
	at    death
	calls []string
	dead  bool
}

// immortal is never killed.
func immortal() *mortal { return &mortal{} }

func (m *mortal) call(what string, act func() error) error {
	if !m.begins(what) {
		return errDead
	}
	err := act()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	return err
}

// begins notes a call, and tells whether it gets out.
func (m *mortal) begins(what string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return false
	}
	m.calls = append(m.calls, what)
	if what == m.at.what {
		m.at.nth--
		m.dead = m.at.nth == 0
	}
	return !m.dead || m.at.after
}

func (m *mortal) died() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// deaths are all that there can be at these calls.
func deaths(calls []string) (out []death) {
	nth := map[string]int{}
	for _, what := range calls {
		nth[what]++
		out = append(out, death{what, nth[what], false}, death{what, nth[what], true})
	}
	return out
}

// client is the API server as this process meets it.
func (m *mortal) client(api client.WithWatch) client.Client {
	name := func(verb string, o client.Object) string { return fmt.Sprintf("%s %T %s", verb, o, o.GetName()) }
	return interceptor.NewClient(api, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			return m.call(fmt.Sprintf("get %T %s", o, key.Name), func() error { return c.Get(ctx, key, o, opts...) })
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			return m.call(name("create", o), func() error { return c.Create(ctx, o, opts...) })
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			return m.call(name("update", o), func() error { return c.Update(ctx, o, opts...) })
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
			return m.call(name("patch", o), func() error { return c.Patch(ctx, o, patch, opts...) })
		},
		SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
			return m.call(name("patch "+sub, o), func() error { return c.SubResource(sub).Patch(ctx, o, patch, opts...) })
		},
	})
}
