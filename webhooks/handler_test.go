package webhooks

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/cel"
)

// plain is what a test wants to know of a status.
type plain struct {
	code    int32
	reason  metav1.StatusReason
	message string
}

func plainOf(s *metav1.Status) plain {
	if s == nil {
		return plain{}
	}
	return plain{s.Code, s.Reason, s.Message}
}

// What is no review is an HTTP error, whose Status the API server shows.
func TestNoReview(t *testing.T) {
	const tail = " (bad-review)"
	nested := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1","object":` +
		strings.Repeat(`{"a":`, 10_000) + "1" + strings.Repeat("}", 10_000) + "}}"
	for _, tt := range []struct {
		name, method, contentType string
		body                      io.Reader
		want                      plain
	}{
		{"GET", "GET", "application/json", nil, plain{405, "MethodNotAllowed", "GET is not answered here: POST an AdmissionReview" + tail}},
		{"PUT", "PUT", "application/json", strings.NewReader(reviewOf(nil)), plain{405, "MethodNotAllowed", "PUT is not answered here: POST an AdmissionReview" + tail}},
		{"no content type", "POST", "", strings.NewReader(reviewOf(nil)), plain{415, "UnsupportedMediaType", `content type "" is not read here: send application/json` + tail}},
		{"another content type", "POST", "application/yaml", strings.NewReader("a: b"), plain{415, "UnsupportedMediaType", `content type "application/yaml" is not read here: send application/json` + tail}},
		{"a lookalike content type", "POST", "application/json-patch+json", strings.NewReader("[]"), plain{415, "UnsupportedMediaType", `content type "application/json-patch+json" is not read here: send application/json` + tail}},
		{"announced as too large", "POST", "application/json", strings.NewReader(strings.Repeat(" ", MaxBody+1)), plain{413, "RequestEntityTooLarge", "the body is larger than 7340032 bytes, the most that is read here: make the object smaller" + tail}},
		{"too large without saying so", "POST", "application/json", io.MultiReader(strings.NewReader(strings.Repeat(" ", MaxBody)), strings.NewReader(" ")), plain{413, "RequestEntityTooLarge", "the body is larger than 7340032 bytes, the most that is read here: make the object smaller" + tail}},
		{"a body that breaks off", "POST", "application/json", io.MultiReader(strings.NewReader("{"), brokenReader{}), plain{400, "BadRequest", "the body could not be read: connection reset" + tail}},
		{"empty", "POST", "application/json", strings.NewReader(""), plain{400, "BadRequest", "the body is not valid JSON: unexpected end of JSON input" + tail}},
		{"no JSON", "POST", "application/json", strings.NewReader("kind: Pod"), plain{400, "BadRequest", "the body is not valid JSON: invalid character 'k' looking for beginning of value" + tail}},
		{"two documents", "POST", "application/json", strings.NewReader(reviewOf(nil) + "{}"), plain{400, "BadRequest", "the body is not valid JSON: invalid character '{' after top-level value" + tail}},
		{"nested 10,000 deep", "POST", "application/json", strings.NewReader(nested), plain{400, "BadRequest", "the body is not valid JSON: invalid character '{' exceeded max depth" + tail}},
		{"null", "POST", "application/json", strings.NewReader("null"), plain{400, "BadRequest", `the body is not an AdmissionReview of admission.k8s.io/v1: it says apiVersion "" and kind ""` + tail}},
		{"a list", "POST", "application/json", strings.NewReader("[]"), plain{400, "BadRequest", `the body is not an AdmissionReview of admission.k8s.io/v1: it says apiVersion "" and kind ""` + tail}},
		{"another kind", "POST", "application/json", strings.NewReader(etcd(3)), plain{400, "BadRequest", `the body is not an AdmissionReview of admission.k8s.io/v1: it says apiVersion "quorate.dev/v1alpha1" and kind "Etcd"` + tail}},
		{"an older review", "POST", "application/json", strings.NewReader(`{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"u-1"}}`), plain{400, "BadRequest", `the body is not an AdmissionReview of admission.k8s.io/v1: it says apiVersion "admission.k8s.io/v1beta1" and kind "AdmissionReview"` + tail}},
		{"a key in other case", "POST", "application/json", strings.NewReader(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","Request":{"uid":"u-1"}}`), plain{400, "BadRequest", "the AdmissionReview has no request" + tail}},
		{"no request", "POST", "application/json", strings.NewReader(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`), plain{400, "BadRequest", "the AdmissionReview has no request" + tail}},
		{"null request", "POST", "application/json", strings.NewReader(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}`), plain{400, "BadRequest", "the AdmissionReview has no request" + tail}},
		{"no uid", "POST", "application/json", strings.NewReader(reviewOf(fields{"uid": `""`})), plain{400, "BadRequest", "the AdmissionReview's request has no uid" + tail}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t)
			r := httptest.NewRequest(tt.method, Path, tt.body)
			r.Header.Set("Content-Type", tt.contentType)
			w := httptest.NewRecorder()
			f.gate(t).ServeHTTP(w, r)
			var status metav1.Status
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
				t.Fatalf("the answer %q is no JSON: %v", w.Body, err)
			}
			if got := plainOf(&status); got != tt.want || w.Code != int(tt.want.code) {
				t.Errorf("HTTP %d with\n%+v, want\n%+v", w.Code, got, tt.want)
			}
			if status.Kind != "Status" || status.APIVersion != "v1" || status.Status != "Failure" {
				t.Errorf("not a failure as API clients know it: %s", w.Body)
			}
			if len(f.judge.asked) > 0 {
				t.Error("the rules were asked")
			}
		})
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

// A review with a field of the wrong type is answered in kind: it has a UID.
func TestWrongTypes(t *testing.T) {
	for name, f := range map[string]fields{
		"object is a list":     {"object": "[]"},
		"object is a string":   {"object": `"x"`},
		"name is a number":     {"name": "1"},
		"dryRun is a string":   {"dryRun": `"true"`},
		"userInfo is a list":   {"userInfo": "[]"},
		"groups is a string":   {"userInfo": `{"username":"alice","groups":"dev"}`},
		"resource is a string": {"resource": `"etcds"`},
	} {
		t.Run(name, func(t *testing.T) {
			fix := newFixture(t)
			response := fix.ask(t, reviewOf(f))
			got := plainOf(response.Result)
			if response.Allowed || got.code != 400 || got.reason != "BadRequest" || !strings.HasPrefix(got.message, "a field of the AdmissionReview has the wrong type: json: cannot unmarshal ") {
				t.Errorf("allowed=%t with %+v", response.Allowed, got)
			}
			if len(fix.judge.asked) > 0 {
				t.Error("the rules were asked")
			}
		})
	}
}

// A body that says that it is too large is refused for that, whether it comes or
// not.
func TestTooLargeByItsOwnWord(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequest(http.MethodPost, Path, brokenReader{})
	r.Header.Set("Content-Type", "application/json")
	r.ContentLength = MaxBody + 1
	w := httptest.NewRecorder()
	f.gate(t).ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
}

func TestContentTypeWithCharset(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(reviewOf(nil)))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	f.gate(t).ServeHTTP(w, r)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"allowed":true`) {
		t.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
}

// The largest review that an API server can make of a 3 MiB request is read.
func TestLargeReview(t *testing.T) {
	f := newFixture(t)
	padded := strings.Replace(etcd(3), `"spec":`, `"padding":"`+strings.Repeat("x", 3<<20)+`","spec":`, 1)
	if response := f.ask(t, reviewOf(fields{"object": padded, "oldObject": padded})); !response.Allowed {
		t.Errorf("refused: %+v", plainOf(response.Result))
	}
}

func TestCrash(t *testing.T) {
	f := newFixture(t)
	f.judge.verdict = func(*cel.Request) cel.Verdict { panic("planted") }
	response := f.ask(t, reviewOf(nil))
	want := plain{500, "InternalError", "the gate crashed over this request, which is refused; nothing was changed: see the manager's log (gate-crashed)"}
	if got := plainOf(response.Result); response.Allowed || got != want {
		t.Errorf("allowed=%t with\n%+v, want\n%+v", response.Allowed, got, want)
	}
}

type crashingReader struct{}

func (crashingReader) Read([]byte) (int, error) { panic("planted") }

// A crash before the UID is known is an HTTP error, and not a broken connection.
func TestCrashBeforeDecoding(t *testing.T) {
	f := newFixture(t)
	r := httptest.NewRequest(http.MethodPost, Path, crashingReader{})
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	f.gate(t).ServeHTTP(w, r)
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "(gate-crashed)") {
		t.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
}

func TestIncompleteOptions(t *testing.T) {
	for name, leaveOut := range map[string]func(*Options){
		"Judge":      func(o *Options) { o.Judge = nil },
		"Resources":  func(o *Options) { o.Resources = nil },
		"Live":       func(o *Options) { o.Live = nil },
		"Access":     func(o *Options) { o.Access = nil },
		"Controller": func(o *Options) { o.Controller = "" },
		"Metrics":    func(o *Options) { o.Metrics = nil },
	} {
		f := newFixture(t)
		leaveOut(&f.options)
		if _, err := New(f.options); !errors.Is(err, ErrIncomplete) || err.Error() != "incomplete gate options: no "+name {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
