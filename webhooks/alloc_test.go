package webhooks

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/quorate/quorate/cel"
)

// nowhere is a response that costs nothing, so that only the gate is measured.
type nowhere struct{ header http.Header }

func (n nowhere) Header() http.Header         { return n.header }
func (n nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (n nowhere) WriteHeader(int)             {}

// free is a judge that costs nothing.
type free struct{}

func (free) JudgeAs(context.Context, *cel.Request, bool) cel.Verdict {
	return cel.Verdict{Outcome: cel.Allow}
}
func (free) LiveReads(*cel.Request) (map[string]cel.LiveTarget, error) { return nil, nil }

// typical is a review of a scale-out as an API server sends it: both objects
// with status and managed fields.
func typical(t testing.TB) []byte {
	t.Helper()
	body, err := os.ReadFile("testdata/typical-review.json")
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// served makes a function that has the gate answer the body once.
func served(t testing.TB, g *Gate, body []byte) func() {
	t.Helper()
	reader := bytes.NewReader(body)
	r := httptest.NewRequest(http.MethodPost, Path, reader)
	r.Header.Set("Content-Type", "application/json")
	w := nowhere{http.Header{}}
	return func() {
		reader.Reset(body)
		r.Body = io.NopCloser(reader)
		g.ServeHTTP(w, r)
	}
}

// The handler costs little more than reading the review, which no handler can
// leave out. Time depends on the machine; allocations do not.
func TestHandlerAllocations(t *testing.T) {
	f := newFixture(t)
	f.options.Judge = free{}
	body := typical(t)
	reading := testing.AllocsPerRun(200, func() {
		if _, err := decode(body); err != nil {
			t.Fatal(err)
		}
	})
	whole := testing.AllocsPerRun(200, served(t, f.gate(t), body))
	if reading > 940 || whole-reading > 25 {
		t.Errorf("%v allocations to read a review, at most 940 wanted; %v more to answer it, at most 25 wanted", reading, whole-reading)
	}
}

func BenchmarkHandler(b *testing.B) {
	f := newFixture(b)
	f.options.Judge = free{}
	serve := served(b, f.gate(b), typical(b))
	b.ReportAllocs()
	for b.Loop() {
		serve()
	}
}
