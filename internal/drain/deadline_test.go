package drain

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// slow is an API server behind the real client: it never answers a request of the
// hanging kind, and other evictions as it was told.
type slow struct {
	t        *testing.T
	hangs    string // end of the path
	eviction func() *http.Response
}

func (s *slow) RoundTrip(r *http.Request) (*http.Response, error) {
	path := r.Method + " " + r.URL.Path
	switch {
	case strings.HasSuffix(path, s.hangs):
		<-r.Context().Done()
		return nil, r.Context().Err()
	case strings.HasSuffix(path, "/eviction"):
		return s.eviction(), nil
	case strings.HasSuffix(path, "/pods"):
		list := corev1.PodList{}
		for i := range 2 * atOnce {
			list.Items = append(list.Items, *pod(fmt.Sprintf("p%02d", i)))
		}
		return s.answer(list), nil
	}
	return s.answer(node(corev1.ConditionTrue)), nil
}

func (s *slow) answer(body any) *http.Response {
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Error(err)
	}
	return response(http.StatusOK, string(text))
}

func response(code int, body string) *http.Response {
	return &http.Response{
		StatusCode: code, Body: io.NopCloser(strings.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/json"}},
	}
}

func evicted() *http.Response {
	return response(http.StatusCreated, `{"kind":"Status","status":"Success"}`)
}

// unprocessed is the answer while a changed budget was not looked at yet: client-go
// would ask ten times more, every 10 s.
func unprocessed() *http.Response {
	r := response(http.StatusTooManyRequests, `{"kind":"Status","status":"Failure","code":429,"reason":"TooManyRequests"}`)
	r.Header.Set("Retry-After", "10")
	return r
}

func TestNothingHoldsAStepUp(t *testing.T) {
	for name, c := range map[string]struct {
		hangs    string
		eviction func() *http.Response
		within   time.Duration // the caller's own deadline
		took     time.Duration
		blocked  int
		want     string
	}{
		"get": {
			hangs: "GET /api/v1/nodes/cp-2", took: stepTimeout,
			want: `drain Node cp-2: get it: Get "http://cluster.example.com/api/v1/nodes/cp-2": context deadline exceeded`,
		},
		"cordon": {
			hangs: "PATCH /api/v1/nodes/cp-2", took: stepTimeout,
			want: `drain Node cp-2: cordon it: Patch "http://cluster.example.com/api/v1/nodes/cp-2": context deadline exceeded`,
		},
		"list": {
			hangs: "/pods", took: stepTimeout,
			want: `drain Node cp-2: list its pods: Get "http://cluster.example.com/api/v1/pods?` +
				`fieldSelector=spec.nodeName%3Dcp-2&limit=500": context deadline exceeded`,
		},
		"one eviction": {hangs: "/p00/eviction", eviction: evicted, took: evictTimeout, blocked: 1},
		"one eviction, and the caller goes": {
			hangs: "/p00/eviction", eviction: evicted, within: time.Second, took: time.Second,
			want: `drain Node cp-2: evict Pod web/p00: ` +
				`Post "http://cluster.example.com/api/v1/namespaces/web/pods/p00/eviction": context deadline exceeded`,
		},
		"budgets not looked at yet":   {hangs: "nothing", eviction: unprocessed, took: 2 * evictTimeout, blocked: 2 * atOnce},
		"nothing, with many to evict": {hangs: "nothing", eviction: evicted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := kubernetes.NewForConfig(&rest.Config{
					Host: "http://cluster.example.com", Transport: &slow{t, c.hangs, c.eviction}, QPS: -1,
				})
				if err != nil {
					t.Fatal(err)
				}
				begin, ctx := time.Now(), t.Context()
				if c.within > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				p, err := (&Drainer{Client: client}).Step(ctx, "cp-2")
				says(t, err, c.want)
				if took := time.Since(begin); took != c.took || len(p.Blocked) != c.blocked {
					t.Errorf("%d blocked after %s, want %d after %s", len(p.Blocked), took, c.blocked, c.took)
				}
				for _, b := range p.Blocked {
					if !strings.HasSuffix(b, ": the API server did not evict it within 5s") {
						t.Errorf("blocked = %q", b)
					}
				}
			})
		})
	}
}
