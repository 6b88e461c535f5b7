package backup

import (
	"context"
	"io"
	"iter"
	"time"

	"github.com/quorate/quorate/internal/store"
)

// mortal is a store as a process that can die sees it.
type mortal struct {
	store.Store
	w *world
}

func (m *mortal) Put(ctx context.Context, name string, r io.Reader) (info store.Info, err error) {
	err = m.w.call("put", func() error {
		info, err = m.Store.Put(ctx, name, r)
		return err
	})
	if err == nil && m.w.stored != nil {
		m.w.stored(name)
	}
	return info, err
}

func (m *mortal) Get(ctx context.Context, name string) (r io.ReadCloser, info store.Info, err error) {
	err = m.w.call("get", func() error {
		r, info, err = m.Store.Get(ctx, name)
		return err
	})
	return r, info, err
}

func (m *mortal) Stat(ctx context.Context, name string) (info store.Info, err error) {
	err = m.w.call("stat", func() error {
		info, err = m.Store.Stat(ctx, name)
		return err
	})
	return info, err
}

func (m *mortal) List(ctx context.Context, prefix string) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		if err := m.w.call("list", func() error { return nil }); err != nil {
			yield(store.Info{}, err)
			return
		}
		m.Store.List(ctx, prefix)(yield)
	}
}

func (m *mortal) Remove(ctx context.Context, name string, v store.Version) error {
	return m.w.call("remove", func() error { return m.Store.Remove(ctx, name, v) })
}

func (m *mortal) Delete(ctx context.Context, name string) error {
	return m.w.call("delete", func() error { return m.Store.Delete(ctx, name) })
}

func (m *mortal) Sweep(ctx context.Context, before time.Time) error {
	return m.w.call("sweep", func() error { return m.Store.(store.Sweeper).Sweep(ctx, before) })
}
