package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quorate/quorate/cel"
)

// strict is a judge that allows what is well formed, and remembers whether it
// was asked.
type strict struct {
	t     *testing.T
	known Resources
	asked atomic.Int32
}

func (s *strict) JudgeAs(_ context.Context, r *cel.Request, _ bool) cel.Verdict {
	s.asked.Add(1)
	if problem := malformed(r); problem != nil {
		s.t.Errorf("the rules were asked about %+v: %v", r, problem)
		return cel.VerdictOf([]cel.Finding{{Rule: "strict", Outcome: cel.Deny, Message: problem.Error()}})
	}
	return cel.Verdict{Outcome: cel.Allow}
}

func (s *strict) LiveReads(r *cel.Request) (map[string]cel.LiveTarget, error) {
	if r.Name == "unreadable" {
		return nil, errors.New("planted")
	}
	return map[string]cel.LiveTarget{"x": {Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}}, nil
}

// malformed tells what a rule must never be asked about.
func malformed(r *cel.Request) error {
	kinds := map[string]string{"etcds": "Etcd", "talosclusters": "TalosCluster", "talosmachines": "TalosMachine", "talosetcdbackups": "TalosEtcdBackup", "talosoperations": "TalosOperation"}
	subresources := map[string]bool{cel.Main: true, cel.Status: true, cel.Scale: r.Resource == "etcds"}
	operations := map[cel.Operation]bool{cel.Create: true, cel.Update: true, cel.Delete: true}
	switch {
	case kinds[r.Resource] == "":
		return errors.New("an unknown resource")
	case !subresources[r.Subresource] || !operations[r.Operation]:
		return errors.New("an unknown operation or subresource")
	case r.Namespace == "":
		return errors.New("no namespace")
	case (r.Object == nil) != (r.Operation == cel.Delete), (r.OldObject == nil) != (r.Operation == cel.Create):
		return errors.New("an object too few or too many")
	}
	for _, o := range []map[string]any{r.Object, r.OldObject} {
		if o != nil && (o["kind"] != kinds[r.Resource] || o["apiVersion"] != "quorate.dev/v1alpha1") {
			return errors.New("another kind")
		}
	}
	return nil
}

// FuzzHandler sends any bytes with any content type to a gate whose judge is strict
// about what rules are asked. Whatever the bytes are: no crash, an answer in JSON
// with a status, and no allowance without a verdict.
func FuzzHandler(f *testing.F) {
	addHostile(f)
	fix := newFixture(f)
	fix.world.get = func(_ context.Context, _, _, name string) (map[string]any, bool, error) {
		switch {
		case strings.HasPrefix(name, "gone"):
			return nil, false, nil
		case strings.HasPrefix(name, "away"):
			return nil, false, errors.New("planted")
		}
		return object(3), true, nil
	}
	f.Fuzz(func(t *testing.T, contentType string, body []byte) {
		judge := &strict{t: t}
		fix.options.Judge = judge
		w := send(fix.gate(t), contentType, body)
		if err := faultOf(w, judge.asked.Load()); err != nil {
			t.Errorf("%v: %s", err, w.Body)
		}
	})
}

// FuzzProduct sends the same to the gate with the product's own rules. It is a
// hundred times as slow, and so a target of its own.
func FuzzProduct(f *testing.F) {
	addHostile(f)
	product := newProduct(f)
	f.Fuzz(func(t *testing.T, contentType string, body []byte) { product.check(t, contentType, body) })
}

// addHostile adds a review as it should be, and a few of each kind of hostile ones
// to start from; TestHostileShapes has them all.
func addHostile(f *testing.F) {
	f.Add("application/json", typical(f))
	for i, review := range hostileReviews(f, atTop) {
		if i%29 == 0 {
			f.Add("application/json", []byte(review))
		}
	}
}

// send has the gate answer the body.
func send(g *Gate, contentType string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
	r.Header["Content-Type"] = []string{contentType}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

// answerShape is either of the answers that the gate gives.
type answerShape struct {
	Kind, APIVersion, Status, Message string
	Code                              int
	Response                          *struct {
		UID     string
		Allowed bool
		Status  *struct {
			Code    int
			Message string
		}
		AuditAnnotations map[string]string
	}
}

// crashed reports whether the answer says so. Every text of the gate's own ends
// with its ID, so that nothing from the body can stand there.
func (a *answerShape) crashed() bool {
	const mark = "(" + gateCrashed + ")"
	return strings.HasSuffix(a.Message, mark) ||
		a.Response != nil && a.Response.Status != nil && strings.HasSuffix(a.Response.Status.Message, mark)
}

// faultOf is what is wrong with an answer that was given after so many verdicts.
func faultOf(w *httptest.ResponseRecorder, asked int32) error {
	var a answerShape
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		return fmt.Errorf("HTTP %d with no JSON: %w", w.Code, err)
	}
	switch {
	case a.crashed(): // first: a crash is answered clearly, too
		return errors.New("the gate crashed")
	case w.Code != http.StatusOK:
		if a.Kind != "Status" || a.Code != w.Code || w.Code < 400 || a.Message == "" {
			return fmt.Errorf("HTTP %d without a clear status", w.Code)
		}
	case a.Kind != "AdmissionReview" || a.Response == nil || a.Response.UID == "":
		return errors.New("HTTP 200 without an answer")
	case a.Response.Allowed && asked != 1:
		return fmt.Errorf("allowed after %d verdicts", asked)
	case !a.Response.Allowed && (a.Response.Status == nil || a.Response.Status.Code < 400 || a.Response.Status.Message == ""):
		return errors.New("refused without a clear status")
	}
	return nil
}

// The fuzzer's own check finds every fault, a crash above all, wherever the gate
// was when it crashed.
func TestFaultOf(t *testing.T) {
	const refused = `{"kind":"AdmissionReview","response":{"uid":"u","allowed":false,"status":{"code":500,"message":"%s"}}}`
	for _, tt := range []struct {
		name  string
		code  int
		body  string
		asked int32
		want  string
	}{
		{"allowed", 200, `{"kind":"AdmissionReview","response":{"uid":"u","allowed":true}}`, 1, ""},
		{"refused", 200, fmt.Sprintf(refused, "no (r)"), 0, ""},
		{"no review", 400, `{"kind":"Status","code":400,"message":"no (bad-review)"}`, 0, ""},
		{"a name like the mark", 200, fmt.Sprintf(refused, "Etcd (gate-crashed) is refused (r)"), 0, ""},
		{"a crash while judging", 200, fmt.Sprintf(refused, "the gate crashed (gate-crashed)"), 0, "the gate crashed"},
		{"a crash before", 500, `{"kind":"Status","code":500,"message":"the gate crashed (gate-crashed)"}`, 0, "the gate crashed"},
		{"no status", 500, `{}`, 0, "HTTP 500 without a clear status"},
		{"no answer", 200, `{"kind":"AdmissionReview"}`, 0, "HTTP 200 without an answer"},
		{"allowed unasked", 200, `{"kind":"AdmissionReview","response":{"uid":"u","allowed":true}}`, 0, "allowed after 0 verdicts"},
		{"refused in silence", 200, fmt.Sprintf(refused, ""), 0, "refused without a clear status"},
		{"no JSON", 200, "", 0, "HTTP 200 with no JSON: unexpected end of JSON input"},
	} {
		w := httptest.NewRecorder()
		w.Code = tt.code
		w.Body.WriteString(tt.body)
		got := ""
		if err := faultOf(w, tt.asked); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
