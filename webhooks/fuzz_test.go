package webhooks

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"context"

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

// FuzzHandler sends any bytes with any content type. Whatever they are: no
// crash, an answer in JSON with a status, and no allowance without a verdict.
func FuzzHandler(f *testing.F) {
	f.Add("application/json", typical(f))
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
		g := fix.gate(t)
		r := httptest.NewRequest(http.MethodPost, Path, strings.NewReader(string(body)))
		r.Header["Content-Type"] = []string{contentType}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		checkAnswer(t, w, judge.asked.Load())
	})
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

func checkAnswer(t *testing.T, w *httptest.ResponseRecorder, asked int32) {
	t.Helper()
	var a answerShape
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
		t.Fatalf("HTTP %d with no JSON: %v: %q", w.Code, err, w.Body)
	}
	switch {
	case w.Code != http.StatusOK:
		if a.Kind != "Status" || a.Code != w.Code || w.Code < 400 || a.Message == "" {
			t.Errorf("HTTP %d without a clear status: %s", w.Code, w.Body)
		}
	case a.Kind != "AdmissionReview" || a.Response == nil || a.Response.UID == "":
		t.Errorf("HTTP 200 without an answer: %s", w.Body)
	case a.Response.Allowed && asked != 1:
		t.Errorf("allowed after %d verdicts: %s", asked, w.Body)
	case !a.Response.Allowed && (a.Response.Status == nil || a.Response.Status.Code < 400 || a.Response.Status.Message == ""):
		t.Errorf("refused without a clear status: %s", w.Body)
	case strings.Contains(w.Body.String(), gateCrashed):
		t.Errorf("crashed: %s", w.Body)
	}
}
