package s3

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quorate/quorate/internal/store"
)

// each makes every request meet the fault that its number gives.
func each(faults ...Fault) func(*http.Request) Fault {
	i := 0
	return func(*http.Request) Fault {
		i++
		if i > len(faults) {
			return Fault{}
		}
		return faults[i-1]
	}
}

func always(f Fault) func(*http.Request) Fault { return func(*http.Request) Fault { return f } }

// What passes by itself is not noticed; what does not ends, and is unreachable.
func TestAwayAndSlow(t *testing.T) {
	p := proxy(t, false)
	s := open(t, impatient(p.URL))
	for _, c := range []struct {
		name  string
		fault Fault
	}{
		{"away", Fault{Away: true}}, {"slow", Fault{Slow: time.Hour}},
		{"overloaded", Fault{Status: http.StatusServiceUnavailable}}, {"answers lost", Fault{Lost: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p.Set(each(c.fault, c.fault))
			if _, err := s.Put(t.Context(), "a", strings.NewReader("x")); err != nil {
				t.Errorf("twice: %v", err)
			}
			p.Set(always(c.fault))
			if _, err := s.Stat(t.Context(), "a"); !errors.Is(err, store.ErrUnreachable) {
				t.Errorf("for ever: %v", err)
			}
			// A kept connection that ends is tried once more, below the attempts.
			if seen := p.Seen(); len(seen) < 3 || len(seen) > 6 {
				t.Errorf("asked %q, want three times", seen)
			}
		})
	}
}

func TestServerThatIsDead(t *testing.T) {
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	s := open(t, impatient(server.Endpoint))
	_, err := s.Create(t.Context(), "a", []byte("x"))
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, store.ErrUnreachable) || !strings.HasSuffix(err.Error(), ": connect: connection refused") {
		t.Errorf("said %v", err)
	}
	if _, err := s.Create(t.Context(), "a", []byte("x")); err != nil {
		t.Errorf("after it is back: %v", err)
	}
}

// Who created an object and lost the answer is told that it is created, and not that
// somebody else was faster.
func TestConditionalWritesWhoseAnswersAreLost(t *testing.T) {
	p := proxy(t, false)
	s := open(t, impatient(p.URL))
	p.Set(each(Fault{Lost: true}))
	first, err := s.Create(t.Context(), "a", []byte("one"))
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	p.Set(each(Fault{Lost: true}, Fault{Lost: true}))
	second, err := s.Replace(t.Context(), "a", []byte("two"), first)
	if err != nil {
		t.Fatalf("replace: %v", err)
	}
	data, v, err := store.ReadSmall(t.Context(), s, "a")
	if err != nil || string(data) != "two" || v != second {
		t.Errorf("read %q at %s, %v; replaced at %s", data, v, err, second)
	}
	// The same content by somebody else is not ours.
	if _, err := s.Create(t.Context(), "a", []byte("two")); !errors.Is(err, store.ErrExists) {
		t.Errorf("create again: %v", err)
	}
	p.Set(each(Fault{}, Fault{Lost: true})) // it looks first
	if err := s.Remove(t.Context(), "a", second); err != nil {
		t.Errorf("remove: %v", err)
	}
}

func isComplete(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

func isPart(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Has("partNumber")
}

func on(which func(*http.Request) bool, faults ...Fault) func(*http.Request) Fault {
	next := each(faults...)
	return func(r *http.Request) Fault {
		if which(r) {
			return next(r)
		}
		return Fault{}
	}
}

// An upload whose parts or whose last answer are lost is whole all the same; one that
// fails leaves nothing, neither the object nor its parts.
func TestUploads(t *testing.T) {
	p := proxy(t, false)
	content := bytes.Repeat([]byte("0123456789"), 2<<20)
	lost, away := Fault{Lost: true}, Fault{Away: true}
	for _, c := range []struct {
		name  string
		fault func(*http.Request) Fault
		fails error
	}{
		{"parts are lost", on(isPart, lost, away, Fault{}, lost), nil},
		{"the last answer is lost", on(isComplete, lost), nil},
		{"all last answers are lost", on(isComplete, lost, lost, lost), nil},
		{"no part is taken", on(isPart, Fault{}, away, away, away), store.ErrUnreachable},
		{"it is not completed", on(isComplete, away, away, away), store.ErrUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, impatient(p.URL))
			p.Set(c.fault)
			info, err := s.Put(t.Context(), "a", bytes.NewReader(content))
			if !errors.Is(err, c.fails) {
				t.Fatalf("put: %v, want %v", err, c.fails)
			}
			seen := p.Seen()
			p.Set(nil)
			if c.fails == nil {
				same(t, s, info, content)
				return
			}
			if _, err := s.Stat(t.Context(), "a"); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("stat: %v", err)
			}
			if !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, "DELETE ") && strings.Contains(s, "uploadId=") }) {
				t.Errorf("the upload was not aborted: %q", seen)
			}
		})
	}
}

// What comes between acting and answering sees what was written; whoever asked hears nothing.
func TestThen(t *testing.T) {
	p := proxy(t, false)
	o := impatient(p.URL)
	o.Attempts = 1
	s, direct := open(t, o), open(t, server.Options(o.Prefix))
	var found error
	p.Set(always(Fault{Then: func() { _, found = direct.Stat(t.Context(), "a") }}))
	if _, err := s.Create(t.Context(), "a", []byte("content")); !errors.Is(err, store.ErrUnreachable) {
		t.Errorf("create: %v", err)
	}
	if found != nil {
		t.Errorf("between acting and answering: %v", found)
	}
}

func same(t *testing.T, s store.Store, info store.Info, content []byte) {
	t.Helper()
	r, got, err := s.Get(t.Context(), info.Name)
	if err != nil || got.Version != info.Version || got.Size != int64(len(content)) {
		t.Fatalf("get: %+v, %v; put said %+v", got, err, info)
	}
	read, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || !bytes.Equal(read, content) {
		t.Errorf("read %d of %d bytes: %v", len(read), len(content), err)
	}
}

// A writer that died leaves parts that are swept, when they are old.
func TestSweep(t *testing.T) {
	p := proxy(t, false)
	o := impatient(p.URL)
	s := open(t, o)
	p.Set(func(r *http.Request) Fault { return Fault{Away: r.URL.Query().Has("uploadId")} })
	if _, err := s.Put(t.Context(), "a", bytes.NewReader(make([]byte, 9<<20))); !errors.Is(err, store.ErrUnreachable) {
		t.Fatalf("put: %v", err)
	}
	sweep := func(before time.Time) (aborted int) {
		p.Set(nil)
		if err := s.(store.Sweeper).Sweep(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Seen() {
			if strings.HasPrefix(r, "DELETE ") {
				aborted++
			}
		}
		return aborted
	}
	for i, c := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if got := sweep(c.before); got != c.want {
			t.Errorf("sweep %d aborted %d uploads, want %d", i, got, c.want)
		}
	}
}
