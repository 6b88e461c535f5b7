package kube

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

var version = schema.GroupVersion{Group: "quorate.dev", Version: "v1alpha1"}

// server answers with the handler, as an API server would on the wire.
func server(t *testing.T, h http.HandlerFunc) *rest.Config {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &rest.Config{Host: s.URL}
}

func live(t *testing.T, h http.HandlerFunc) *Live {
	t.Helper()
	l, err := NewLive(server(t, h), version)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func answer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
	}
}

const cluster = `{"apiVersion":"quorate.dev/v1alpha1","kind":"TalosCluster","metadata":{"name":"c"},"spec":{"controlPlane":{"count":3}}}`

func TestGet(t *testing.T) {
	notThere := `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"talosclusters.quorate.dev \"c\" not found","reason":"NotFound","details":{"name":"c","group":"quorate.dev","kind":"talosclusters"},"code":404}`
	for _, tt := range []struct {
		name, body, wantErr string
		code                int
		found               bool
	}{
		{"there", cluster, "", 200, true},
		{"not there", notThere, "", 404, false},
		// The API server answers thus where the CRD is not installed.
		{"no such resource", "404 page not found\n", "get talosclusters ns/c: the server could not find the requested resource", 404, false},
		{"not allowed", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`, "get talosclusters ns/c: no", 403, false},
		{"nonsense", "<html>", "get talosclusters ns/c: couldn't get version/kind; json parse error: invalid character '<' looking for beginning of value", 200, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var path string
			l := live(t, func(w http.ResponseWriter, r *http.Request) { path = r.URL.String(); answer(tt.code, tt.body)(w, r) })
			got, found, err := l.Get(t.Context(), "talosclusters", "ns", "c")
			if found != tt.found || text(err) != tt.wantErr {
				t.Errorf("found=%t, error %q, want %t and %q", found, text(err), tt.found, tt.wantErr)
			}
			// No resourceVersion: the newest state and not a cache's.
			if path != "/apis/quorate.dev/v1alpha1/namespaces/ns/talosclusters/c" {
				t.Errorf("asked for %s", path)
			}
			want := map[string]any{"apiVersion": "quorate.dev/v1alpha1", "kind": "TalosCluster", "metadata": map[string]any{"name": "c"}, "spec": map[string]any{"controlPlane": map[string]any{"count": int64(3)}}}
			if tt.found && !reflect.DeepEqual(got, want) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A name from an object is no way to another path: no object has it, and no retry
// would help. An absent name is a mistake.
func TestGetOddNames(t *testing.T) {
	asked := 0
	l := live(t, func(w http.ResponseWriter, r *http.Request) { asked++; answer(200, cluster)(w, r) })
	for name, want := range map[string]string{
		"..": "", "a/../b": "", "a%2fb": "", "https://a.example.com": "", "": "get talosclusters ns/: name is required",
	} {
		if _, found, err := l.Get(t.Context(), "talosclusters", "ns", name); text(err) != want || found {
			t.Errorf("%q: found=%t, error %q, want %q", name, found, text(err), want)
		}
	}
	if asked > 0 {
		t.Errorf("the server was asked %d times", asked)
	}
}

// pages serves pages of the sizes, one after the other, without end if the last
// one is negative.
func pages(asked *[]url.Values, sizes ...int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Query())
		n := len(*asked)
		size, next := sizes[min(n, len(sizes))-1], ""
		if n < len(sizes) || size < 0 {
			next = fmt.Sprint("page-", n+1)
		}
		items := strings.TrimSuffix(strings.Repeat(cluster+",", max(size, -size)), ",")
		answer(200, fmt.Sprintf(`{"apiVersion":"quorate.dev/v1alpha1","kind":"TalosClusterList","metadata":{"continue":%q},"items":[%s]}`, next, items))(w, r)
	}
}

func TestListPages(t *testing.T) {
	var asked []url.Values
	got, err := live(t, pages(&asked, 500, 500, 1)).List(t.Context(), "talosclusters", "ns")
	if err != nil || len(got) != 1001 {
		t.Errorf("%d objects, %v", len(got), err)
	}
	want := []url.Values{{"limit": {"500"}}, {"limit": {"500"}, "continue": {"page-2"}}, {"limit": {"500"}, "continue": {"page-3"}}}
	if !reflect.DeepEqual(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
	if first, ok := got[0].(map[string]any); !ok || first["kind"] != "TalosCluster" {
		t.Errorf("an object is %v", got[0])
	}
}

func TestListBounds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		sizes []int
		want  int
		err   error
	}{
		{"nothing", []int{0}, 0, nil},
		{"as many as fit", []int{5000, 5000}, 10_000, nil},
		{"one more", []int{5000, 5001}, 0, ErrTooMany},
		{"without end", []int{-5000}, 0, ErrTooMany},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []url.Values
			got, err := live(t, pages(&asked, tt.sizes...)).List(t.Context(), "talosclusters", "ns")
			if len(got) != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("%d objects, %v", len(got), err)
			}
			if tt.want == 0 && tt.err == nil && got == nil {
				t.Error("an empty list is null")
			}
		})
	}
}

// Half a list is none: rules would judge a world with objects missing.
func TestListThatBreaksOff(t *testing.T) {
	var asked []url.Values
	first := pages(&asked, 500, 1)
	l := live(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("continue") == "" {
			first(w, r)
			return
		}
		answer(410, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"too old","reason":"Expired","code":410}`)(w, r)
	})
	got, err := l.List(t.Context(), "talosclusters", "ns")
	if got != nil || text(err) != "list talosclusters in ns: too old" {
		t.Errorf("%d objects, %v", len(got), err)
	}
}

// Verdicts do not queue behind each other: client-go allows five calls a second
// unless it is told otherwise.
func TestUnthrottled(t *testing.T) {
	l := live(t, answer(200, cluster))
	start := time.Now()
	for range 60 {
		if _, _, err := l.Get(t.Context(), "talosclusters", "ns", "c"); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("60 reads took %s", took)
	}
}
