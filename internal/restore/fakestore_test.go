package restore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/quorate/quorate/internal/store"
)

// shelf is an object store in memory, and the folders of all processes.
type shelf struct {
	objects       map[string]object
	version       int
	awayUntil     time.Time
	unconditional bool
	desks         []*shelfDesk
	onPut         func(name string, data []byte)
}

type object struct {
	data    []byte
	version store.Version
}

const plaintext = "the resealed snapshot of the cluster"

func (s *shelf) whole(name string) bool {
	return string(s.objects[name].data) == "sealed:"+plaintext
}

func (s *shelf) put(name string, data []byte) store.Version {
	s.version++
	if s.onPut != nil {
		s.onPut(name, data)
	}
	v := store.Version(strconv.Itoa(s.version))
	s.objects[name] = object{bytes.Clone(data), v}
	return v
}

// shop is the store as a process sees it.
type shop struct{ p *process }

var errGone = fmt.Errorf("the store: %w", store.ErrUnreachable)

func (s shop) call(name, object string, act func(*shelf) error) error {
	return s.p.do("store/"+name+"/"+object, errGone, func() error {
		if s.p.w.at.Before(s.p.w.store.awayUntil) {
			return errGone
		}
		return act(s.p.w.store)
	})
}

func (s shop) Create(_ context.Context, name string, data []byte) (v store.Version, err error) {
	err = s.call("Create", name, func(all *shelf) error {
		if _, there := all.objects[name]; there {
			return store.ErrExists
		}
		v = all.put(name, data)
		return nil
	})
	return v, err
}

func (s shop) Replace(_ context.Context, name string, data []byte, old store.Version) (v store.Version, err error) {
	err = s.call("Replace", name, func(all *shelf) error {
		is, there := all.objects[name]
		switch {
		case !there:
			return store.ErrNotFound
		case is.version != old && !all.unconditional:
			return store.ErrChanged
		}
		v = all.put(name, data)
		return nil
	})
	return v, err
}

func (s shop) Remove(_ context.Context, name string, old store.Version) error {
	return s.call("Remove", name, func(all *shelf) error {
		if is, there := all.objects[name]; there && is.version != old && !all.unconditional {
			return store.ErrChanged
		}
		delete(all.objects, name)
		return nil
	})
}

func (s shop) Get(_ context.Context, name string) (r io.ReadCloser, info store.Info, err error) {
	err = s.call("Get", name, func(all *shelf) error {
		is, there := all.objects[name]
		if !there {
			return store.ErrNotFound
		}
		r, info = io.NopCloser(bytes.NewReader(is.data)), store.Info{Name: name, Version: is.version}
		return nil
	})
	return r, info, err
}

// unseal is the decryption of the fakes.
func unseal(r io.Reader) (io.Reader, error) {
	head := make([]byte, len("sealed:"))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != "sealed:" {
		return nil, errors.New("it is not sealed to this key")
	}
	return r, nil
}

// shelfDesk is a folder in memory, which outlives the process.
type shelfDesk struct {
	id       string
	marker   []byte
	snapshot []byte
	journal  []Entry
	broken   bool // nothing can be written
}

func (d *shelfDesk) whole() bool { return string(d.snapshot) == plaintext }

// desk is a folder as a process sees it.
type desk struct {
	p *process
	d *shelfDesk
}

var errDisk = errors.New("fsync: input/output error")

func (d desk) call(name string, act func() error) error {
	return d.p.do("folder/"+name, errDisk, act)
}

func (d desk) write(name string, act func()) error {
	return d.call(name, func() error {
		if d.d.broken {
			return errDisk
		}
		act()
		return nil
	})
}

func (d desk) Identity() (string, error) { return d.d.id, nil }

func (d desk) Marker() (m *Marker, err error) {
	err = d.call("Marker", func() (err error) {
		if d.d.marker == nil {
			return ErrNoMarker
		}
		m, err = Decode(d.d.marker)
		return err
	})
	return m, err
}

func (d desk) SaveMarker(m *Marker) error {
	data, err := m.Encode()
	return errors.Join(err, d.write("SaveMarker", func() { d.d.marker = data }))
}

func (d desk) Write(e Entry) error {
	return d.write("Write", func() { d.d.journal = append(d.d.journal, e) })
}

func (d desk) Snapshot() (r io.ReadCloser, err error) {
	err = d.call("Snapshot", func() error {
		if d.d.snapshot == nil {
			return fs.ErrNotExist
		}
		r = io.NopCloser(bytes.NewReader(d.d.snapshot))
		return nil
	})
	return r, err
}

func (d desk) Stage(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return d.write("Stage", func() { d.d.snapshot = data })
}
