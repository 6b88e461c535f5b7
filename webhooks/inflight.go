package webhooks

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What may be decoded at a time. JSON decoded to maps takes up to sixty times its
// size, so that a few hostile bodies at once would exhaust the memory of the pod
// and take the gate away from everybody. With these bounds, large bodies take up
// 140 MiB at most and the others as much together, which is below the limit in
// manifests/manager; reviews of our kinds come to some 10 KiB.
const (
	largeBody   = 256 << 10
	largeAtOnce = 2
	// smallAtOnce is in bytes of bodies that are not large.
	smallAtOnce = 2 << 20
	// placeWait is how long a review waits for others. With the budget of the
	// verdict it ends before the API server's 5 seconds.
	placeWait = time.Second
	// maxValues bounds the objects, lists and their items in a body, of both its
	// objects together.
	maxValues = 300_000
)

// inflight bounds the reviews that are under way. Large ones wait for each other
// before they are read; others, only before they are decoded: a slow sender must
// not hold up everybody's.
type inflight struct {
	large, small *semaphore.Weighted
	wait         time.Duration
}

func newInflight() *inflight {
	return &inflight{semaphore.NewWeighted(largeAtOnce), semaphore.NewWeighted(smallAtOnce), placeWait}
}

// place is what a review takes up; the zero place takes up nothing.
type place struct {
	in   *semaphore.Weighted
	size int64
}

func (p *place) leave() {
	if p.in != nil {
		p.in.Release(p.size)
	}
}

// take reads the body and finds the review a place, both in the order that its
// size asks for.
func (g *Gate) take(p *place, w http.ResponseWriter, r *http.Request, body *bytes.Buffer) error {
	large := isLarge(r)
	if large {
		if err := g.inflight.enter(r.Context(), p, g.inflight.large, 1); err != nil {
			return err
		}
	}
	if err := accept(w, r, body); err != nil {
		return err
	}
	if !large {
		if err := g.inflight.enter(r.Context(), p, g.inflight.small, int64(body.Len())); err != nil {
			return err
		}
	}
	return checkValues(body.Bytes())
}

// isLarge: a sender that does not say how much it sends may send much. What is
// announced as too large is never read.
func isLarge(r *http.Request) bool {
	return r.ContentLength < 0 || r.ContentLength > largeBody && r.ContentLength <= MaxBody
}

// enter waits for a place, but not for long: a refusal is better than a time-out.
func (f *inflight) enter(ctx context.Context, p *place, in *semaphore.Weighted, size int64) error {
	if !in.TryAcquire(size) {
		ctx, cancel := context.WithTimeout(ctx, f.wait)
		defer cancel()
		if err := in.Acquire(ctx, size); err != nil {
			return refuseForNow(gateBusy, "the gate is busy with other reviews, and this one is refused after waiting for %s; nothing was changed, retry", f.wait)
		}
	}
	p.in, p.size = in, size
	return nil
}

// checkValues refuses what would take up far more memory than its size tells.
func checkValues(body []byte) error {
	values := 0
	for _, mark := range []byte("{[,") {
		values += bytes.Count(body, []byte{mark})
	}
	if values > maxValues {
		return refuseAs(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "the body holds more than %d values, the most that is read here: make the object smaller", maxValues)
	}
	return nil
}
