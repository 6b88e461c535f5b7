package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/cel"
)

// MaxBody is the largest AdmissionReview that is read. The API server accepts
// bodies of 3 MiB; a review carries the old object beside the new one, and
// encoding them again makes both a little longer.
const MaxBody = 7 << 20

// keptBuffer is the largest buffer that is kept for the next request, and reserved
// the most that is set aside on a sender's word: a larger body has to come first.
const (
	keptBuffer = 256 << 10
	reserved   = 32 << 10
)

// discarded is how much of a body that is too large is read and thrown away: a
// sender that is cut off while it sends would see a broken connection and never
// the reason.
const discarded = 4 * MaxBody

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func release(b *bytes.Buffer) {
	if b.Cap() <= keptBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// ServeHTTP answers an AdmissionReview. What can be answered in kind is a 200
// with the request's UID and a status of its own; the rest is an HTTP error with
// a Status, whose message the API server passes on to its user.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer release(buffer)
	code, answer := g.answer(w, r, buffer)
	buffer.Reset()
	if err := json.NewEncoder(buffer).Encode(answer); err != nil {
		// Cannot be: every answer is a struct of strings and numbers.
		http.Error(w, text(gateCrashed, "the answer could not be encoded: %v", err), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(buffer.Len()))
	w.WriteHeader(code)
	// A peer that has gone away cannot be told anything any more.
	_, _ = w.Write(buffer.Bytes())
}

// answer reads and judges; a crash on the way is a refusal.
func (g *Gate) answer(w http.ResponseWriter, r *http.Request, buffer *bytes.Buffer) (code int, answer any) {
	var request *reviewRequest
	var place place
	defer func() {
		place.leave()
		if p := recover(); p != nil {
			code, answer = g.crashed(request, p)
		}
	}()
	if err := g.take(&place, w, r, buffer); err != nil {
		return g.reject(err)
	}
	review, err := decode(buffer.Bytes())
	if err != nil && !answerable(err) {
		return g.reject(refuse(badReview, "%v", err))
	}
	request = review.Request
	if err != nil {
		return http.StatusOK, seal(request.UID, g.turnAway(request, refuse(badReview, "%v", err)))
	}
	return http.StatusOK, seal(request.UID, g.respond(r.Context(), request))
}

// crashed answers after a panic, in kind if the request was known by then.
func (g *Gate) crashed(request *reviewRequest, p any) (int, any) {
	g.log.Error(fmt.Errorf("panic: %v", p), "the gate crashed", "stack", string(debug.Stack()))
	const what = "the gate crashed over this request, which is refused; nothing was changed: see the manager's log"
	if request == nil {
		return g.reject(refuseBroken(gateCrashed, what))
	}
	return http.StatusOK, seal(request.UID, g.turnAway(request, refuseBroken(gateCrashed, what)))
}

// reject answers what is no review.
func (g *Gate) reject(err error) (int, *metav1.Status) {
	no := asRefusal(err)
	g.metrics.decided(no.id, cel.RuleError, other, other)
	g.log.Info("no review", "code", no.code, "message", no.message)
	return int(no.code), no.status()
}

// accept reads the body of a request that can be a review.
func accept(w http.ResponseWriter, r *http.Request, body *bytes.Buffer) error {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return refuseAs(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed, "%s is not answered here: POST an AdmissionReview", r.Method)
	}
	if ct := r.Header.Get("Content-Type"); !isJSON(ct) {
		return refuseAs(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType, "content type %q is not read here: send application/json", ct)
	}
	if r.ContentLength > MaxBody {
		return tooLarge(r.Body)
	}
	if r.ContentLength > 0 {
		body.Grow(int(min(r.ContentLength+bytes.MinRead, reserved)))
	}
	n, err := body.ReadFrom(io.LimitReader(r.Body, MaxBody+1))
	switch {
	case err != nil:
		return refuse(badReview, "the body could not be read: %v", err)
	case n > MaxBody:
		return tooLarge(r.Body)
	}
	return nil
}

func tooLarge(rest io.Reader) error {
	_, _ = io.CopyN(io.Discard, rest, discarded)
	return refuseAs(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge, "the body is larger than %d bytes, the most that is read here: make the object smaller", MaxBody)
}

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && media == "application/json"
}
