package why

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/cel"
)

// heard is what came over the wire.
type heard struct{ method, uri, contentType, body string }

// listen serves one answer, with warnings, and keeps what it heard.
func listen(t *testing.T, answer any) (*API, *[]heard) {
	t.Helper()
	var all []heard
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		all = append(all, heard{r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), strings.TrimSpace(string(body))})
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Warning", `299 - "think twice"`)
		w.Header().Add("Warning", `199 - "not for us"`)
		if status, ok := answer.(metav1.Status); ok {
			w.WriteHeader(int(status.Code))
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	api, err := NewAPI(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	return api, &all
}

func TestEveryAttemptIsADryRun(t *testing.T) {
	a := object(t, "metadata: {name: a}")
	const options = "dryRun=All&fieldManager=kubectl-client-side-apply&fieldValidation=Strict"
	const path = "/apis/example.com/v1/namespaces/data/widgets"
	const encoded = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`
	for _, tc := range []struct {
		name    string
		attempt Attempt
		want    heard
	}{
		{"create", Attempt{Operation: cel.Create, Create: a}, heard{"POST", path + "?" + options, "application/json", encoded}},
		{"replace", Attempt{Operation: cel.Update, Replace: a}, heard{"PUT", path + "/a?" + options, "application/json", encoded}},
		{"apply", Attempt{Operation: cel.Update, Patch: []byte("{}")}, heard{"PATCH", path + "/a?" + options, "application/merge-patch+json", "{}"}},
		{"scale", Attempt{Operation: cel.Update, Subresource: cel.Scale, Patch: []byte("{}")}, heard{"PATCH", path + "/a/scale?" + options, "application/merge-patch+json", "{}"}},
		{"delete", Attempt{Operation: cel.Delete, ResourceVersion: "7"}, heard{"DELETE", path + "/a", "application/json",
			`{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"resourceVersion":"7"},"dryRun":["All"]}`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			api, all := listen(t, a.Object)
			warnings, err := api.DryRun(context.Background(), Target{Resource: widgets, Namespace: "data", Name: "a"}, tc.attempt)
			if err != nil {
				t.Fatal(err)
			}
			if len(*all) != 1 || (*all)[0] != tc.want {
				t.Errorf("sent %+v\nwant %+v", *all, tc.want)
			}
			if len(warnings) != 1 || warnings[0] != "think twice" {
				t.Errorf("warnings %q, want the server's own", warnings)
			}
		})
	}
}

func TestRefusalKeepsItsCauses(t *testing.T) {
	refusal := invalid("no", cause("FieldValueForbidden", "spec.replicas", "Forbidden: "+said))
	refusal.Kind, refusal.APIVersion, refusal.Status = "Status", "v1", metav1.StatusFailure
	api, _ := listen(t, refusal)
	_, err := api.DryRun(context.Background(), Target{Resource: widgets, Name: "a"}, Attempt{Patch: []byte("{}")})
	rows, err := refusalsOf(err)
	if err != nil || len(rows) != 1 || rows[0].Rule != "scale-out-blocked" || rows[0].Message != said {
		t.Errorf("got %+v, %v", rows, err)
	}
}

func TestIdentityAndRights(t *testing.T) {
	api, all := listen(t, map[string]any{"status": map[string]any{"userInfo": map[string]any{"username": "alice"}, "allowed": true}})
	user, err := api.Whoami(context.Background())
	if err != nil || user.Username != "alice" {
		t.Errorf("got %+v, %v", user, err)
	}
	status, err := api.Review(context.Background(), authorizationv1.SelfSubjectAccessReviewSpec{})
	if err != nil || !status.Allowed {
		t.Errorf("got %+v, %v", status, err)
	}
	for i, path := range []string{"/apis/authentication.k8s.io/v1/selfsubjectreviews", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"} {
		if (*all)[i].method != "POST" || (*all)[i].uri != path {
			t.Errorf("asked %s %s, want POST %s", (*all)[i].method, (*all)[i].uri, path)
		}
	}
}

func TestClusterScopedObjectsHaveNoNamespace(t *testing.T) {
	api, all := listen(t, object(t, "metadata: {name: a}").Object)
	if _, err := api.Get(context.Background(), Target{Resource: widgets, Name: "a"}); err != nil {
		t.Fatal(err)
	}
	if got := (*all)[0].uri; got != "/apis/example.com/v1/widgets/a" {
		t.Errorf("asked %s", got)
	}
}
