package webhooks

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quorate/quorate/cel"
)

// padded is a review of at least so many bytes.
func padded(bytes int) []byte {
	object := strings.Replace(etcd(3), `"spec":`, `"padding":"`+strings.Repeat("x", bytes)+`","spec":`, 1)
	return []byte(reviewOf(fields{"object": object}))
}

// gathering is a judge that holds requests until it is told to let them go, and
// remembers how many it held at once.
type gathering struct {
	free
	release   chan struct{}
	entered   chan struct{}
	now, most atomic.Int32
}

func newGathering() *gathering {
	return &gathering{release: make(chan struct{}), entered: make(chan struct{}, 1000)}
}

func (j *gathering) JudgeAs(context.Context, *cel.Request, bool) cel.Verdict {
	n := j.now.Add(1)
	for seen := j.most.Load(); n > seen && !j.most.CompareAndSwap(seen, n); seen = j.most.Load() {
	}
	j.entered <- struct{}{}
	select {
	case <-j.release:
	case <-time.After(patience):
	}
	j.now.Add(-1)
	return cel.Verdict{Outcome: cel.Allow}
}

// Bodies for which there is no room wait, and are refused in time with a way out;
// the others are answered.
func TestBusyGateRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		body  []byte
		room  int
		other []byte // finds room meanwhile
	}{
		{"large bodies", padded(1 << 20), largeAtOnce, padded(1 << 10)},
		{"others", padded(largeBody - 2<<10), smallAtOnce / largeBody, padded(1 << 20)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, j := newFixture(t), newGathering()
			f.options.Judge = j
			g := f.gate(t)
			g.inflight.wait = 10 * time.Millisecond
			var held sync.WaitGroup
			for range tt.room {
				held.Go(func() { checkCode(t, "one with a place", g, tt.body, http.StatusOK, `"allowed":true`) })
			}
			for range tt.room {
				soon(t, "a review to be judged", j.entered)
			}
			const refused = "the gate is busy with other reviews, and this one is refused after waiting for 10ms; nothing was changed, retry (gate-busy)"
			for range 3 {
				checkCode(t, "one too many", g, tt.body, http.StatusServiceUnavailable, refused)
			}
			held.Go(func() { checkCode(t, "one of the other size", g, tt.other, http.StatusOK, `"allowed":true`) })
			soon(t, "a review of the other size", j.entered)
			close(j.release)
			held.Wait()
			checkCode(t, "one after the others", g, tt.body, http.StatusOK, `"allowed":true`)
		})
	}
}

// Many at once are answered all the same, a few at a time.
func TestManyLargeBodies(t *testing.T) {
	f, j := newFixture(t), newGathering()
	f.options.Judge = j
	close(j.release)
	g := f.gate(t)
	g.inflight.wait = patience
	body := padded(1 << 20)
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() { checkCode(t, "a large body", g, body, http.StatusOK, `"allowed":true`) })
	}
	all.Wait()
	if most := j.most.Load(); most > largeAtOnce {
		t.Errorf("%d large bodies at once, want %d at most", most, largeAtOnce)
	}
}

func checkCode(t *testing.T, what string, g *Gate, body []byte, code int, text string) {
	if w := send(g, "application/json", body); w.Code != code || !strings.Contains(w.Body.String(), text) {
		t.Errorf("%s: HTTP %d: %s, want %d: %s", what, w.Code, w.Body, code, text)
	}
}

// A crash gives its place back.
func TestCrashLeavesItsPlace(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = func(*cel.Request) cel.Verdict { panic("planted") }
	g := f.gate(t)
	g.inflight.wait = 10 * time.Millisecond
	for range largeAtOnce + 1 {
		checkCode(t, "a crash", g, padded(1<<20), http.StatusOK, "("+gateCrashed+")")
	}
}

// worst are bodies of so many values that take up the most memory for them.
func worst(values int) map[string][]byte {
	list := func(item string, each int) []byte {
		return []byte(reviewOf(fields{"object": `{"x":[` + strings.TrimSuffix(strings.Repeat(item+",", values/each), ",") + `]}`}))
	}
	keys := make([]string, values)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"%x":1000`, i)
	}
	return map[string][]byte{
		"objects": list(`{"":0}`, 2), "empty objects": list("{}", 2), "lists": list(`[0]`, 2), "numbers": list("1000", 1),
		"one object": []byte(reviewOf(fields{"object": "{" + strings.Join(keys, ",") + "}"})),
	}
}

func TestTooManyValues(t *testing.T) {
	f := newFixture(t)
	for name, body := range worst(maxValues + 2) {
		checkCode(t, name, f.gate(t), body, http.StatusRequestEntityTooLarge, "the body holds more than 300000 values, the most that is read here: make the object smaller (bad-review)")
	}
}

// What a review takes up is bounded, and with it what all of them do: the pod's
// limit is above that.
func TestDecodedSize(t *testing.T) {
	const most = 75 << 20
	for name, body := range worst(maxValues - 100) {
		if err := checkValues(body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if took := decodedSize(t, body); took > most {
			t.Errorf("%s: %d MiB of %d KiB, want %d MiB at most", name, took>>20, len(body)>>10, most>>20)
		}
	}
}

// decodedSize is what is allocated to decode a body, garbage included.
func decodedSize(t *testing.T, body []byte) uint64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := decode(body); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
