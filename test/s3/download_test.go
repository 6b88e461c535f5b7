package s3

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/quorate/quorate/internal/store"
)

// A download whose connection breaks goes on where it was.
func TestDownloadGoesOn(t *testing.T) {
	p := proxy(t, false)
	s := open(t, impatient(p.URL))
	content := bytes.Repeat([]byte("0123456789"), 1<<20)
	info, err := s.Put(t.Context(), "a", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	p.Set(each(Fault{Cut: 100}, Fault{Cut: 5 << 20}, Fault{Away: true}, Fault{Cut: 1}))
	same(t, s, info, content)
	if seen := p.Seen(); len(seen) != 5 {
		t.Errorf("asked %d times: %q", len(seen), seen)
	}
}

// It goes on with the object that it began with, or says that this is gone.
func TestDownloadOfAnObjectThatChanges(t *testing.T) {
	p := proxy(t, false)
	s := open(t, impatient(p.URL))
	if _, err := s.Put(t.Context(), "a", strings.NewReader(strings.Repeat("one", 1<<20))); err != nil {
		t.Fatal(err)
	}
	p.Set(each(Fault{Cut: 1 << 20}))
	r, _, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := s.Put(t.Context(), "a", strings.NewReader(strings.Repeat("two", 1<<20))); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(r); !errors.Is(err, store.ErrChanged) {
		t.Errorf("read: %v", err)
	}
}

// One that breaks all the time ends.
func TestDownloadThatBreaksAllTheTime(t *testing.T) {
	p := proxy(t, false)
	s := open(t, impatient(p.URL))
	if _, err := s.Put(t.Context(), "a", bytes.NewReader(make([]byte, 2<<20))); err != nil {
		t.Fatal(err)
	}
	p.Set(func(r *http.Request) Fault { return Fault{Cut: 100000} })
	r, _, err := s.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n, err := io.Copy(io.Discard, r)
	if asked := len(p.Seen()); !errors.Is(err, store.ErrUnreachable) || asked != 11 {
		t.Errorf("read %d bytes, asked %d times: %v", n, asked, err)
	}
}

// A store that takes conditions and ignores them is told.
func TestProbeFindsAStoreThatIgnoresConditions(t *testing.T) {
	p := proxy(t, false)
	s := open(t, impatient(p.URL))
	for _, c := range []struct{ header, want string }{
		{"If-None-Match", "the store ignores conditions on writes: it created over an object that exists"},
		{"If-Match", "the store ignores conditions on writes: it replaced an object by a version that was gone"},
	} {
		p.Set(func(r *http.Request) Fault { return Fault{Unconditional: r.Header.Get(c.header) != ""} })
		err := s.Probe(t.Context())
		if !errors.Is(err, store.ErrUnconditional) || err.Error() != c.want {
			t.Errorf("without %s: %v, want %s", c.header, err, c.want)
		}
		p.Set(nil)
		for info, err := range s.List(t.Context(), "") {
			t.Errorf("the probe left %s, %v", info.Name, err)
		}
	}
}

// A store whose certificate the system does not trust is reached by its own CA alone.
func TestCA(t *testing.T) {
	p := proxy(t, true)
	o := impatient(p.URL)
	_, err := open(t, o).Stat(t.Context(), "a")
	if !errors.Is(err, store.ErrUnreachable) || !strings.HasPrefix(err.Error(), "stat object a: unreachable: its certificate is not trusted (give the CA that signed it): ") {
		t.Errorf("without the CA: %v", err)
	}
	o.CA = p.CA
	if err := open(t, o).Probe(t.Context()); err != nil {
		t.Errorf("with the CA: %v", err)
	}
}
