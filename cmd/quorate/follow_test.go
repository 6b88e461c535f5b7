package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/quorate/quorate/api/v1alpha1"
)

// stage is what an API server says, and can be changed while it runs.
type stage struct {
	mu   sync.Mutex
	says func(w http.ResponseWriter)
}

func (s *stage) set(says func(w http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says = says
}

func (s *stage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path != "/apis/quorate.dev/v1alpha1/namespaces/default/talosoperations/rewind" {
		http.Error(w, r.URL.Path, http.StatusTeapot)
		return
	}
	s.says(w)
}

// away breaks the connection off, as a server that dies does.
func away(http.ResponseWriter) { panic(http.ErrAbortHandler) }

func absent(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusNotFound)
	_ = json.NewEncoder(w).Encode(metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound})
}

func unavailable(w http.ResponseWriter) { http.Error(w, "starting", http.StatusServiceUnavailable) }

func operationAt(phase v1alpha1.OperationPhase, step v1alpha1.RestoreStep, message string) *v1alpha1.TalosOperation {
	return &v1alpha1.TalosOperation{
		TypeMeta:   metav1.TypeMeta{APIVersion: "quorate.dev/v1alpha1", Kind: "TalosOperation"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "rewind"},
		Status:     v1alpha1.TalosOperationStatus{Phase: phase, EtcdRestore: &v1alpha1.EtcdRestoreStatus{Step: step, Message: message}},
	}
}

func shows(op *v1alpha1.TalosOperation) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(op)
	}
}

// played follows over three API servers on one port, in a time of its own: turn is
// called each time that the follower waits, with the time since the beginning.
type played struct {
	*follower
	stages []*stage
	port   string
	out    bytes.Buffer
	clock  time.Time
	began  time.Time
	turn   func(p *played, elapsed time.Duration)
}

func play(t *testing.T, turn func(p *played, elapsed time.Duration)) *played {
	t.Helper()
	ca := newAuthority(t)
	p := &played{stages: []*stage{{}, {}, {}}, began: time.Date(2030, 1, 2, 15, 0, 0, 0, time.UTC), turn: turn}
	p.clock = p.began
	_, p.port = ca.serves(t, "127.0.0.1:0", p.stages[0].ServeHTTP, "127.0.0.1")
	// The second one has a certificate that does not name the server of the kubeconfig.
	ca.serves(t, "127.0.0.2:"+p.port, p.stages[1].ServeHTTP, "127.0.0.2")
	ca.serves(t, "127.0.0.3:"+p.port, p.stages[2].ServeHTTP, "127.0.0.3", "127.0.0.1")
	config := &rest.Config{Host: "https://127.0.0.1:" + p.port, TLSClientConfig: rest.TLSClientConfig{CAData: ca.pem}}
	servers, why, err := ring(config, []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"})
	if err != nil || why != "" || len(servers) != 3 {
		t.Fatalf("%d servers, %q, %v", len(servers), why, err)
	}
	now := func() time.Time { return p.clock }
	p.follower = &follower{servers: servers, op: operationAt(v1alpha1.PhasePending, "", ""), recover: "quorate restore --recover-cluster", progress: newOperationProgress(&p.out, now), now: now,
		wait: func(ctx context.Context, d time.Duration) error {
			p.clock = p.clock.Add(d)
			if p.clock.Sub(p.began) > 5*time.Hour {
				return errors.New("the test goes on for ever")
			}
			p.turn(p, p.clock.Sub(p.began))
			return ctx.Err()
		}}
	return p
}

// text is what was shown, with ports, times and what a system says of a connection left out.
func (p *played) text() string {
	lines := strings.Split(strings.ReplaceAll(p.out.String(), ":"+p.port, ""), "\n")
	for i, l := range lines {
		if before, _, ok := strings.Cut(l, " does not answer: "); ok {
			l = before + " does not answer"
		}
		if len(l) > 9 && l[2] == ':' {
			l = l[9:]
		}
		lines[i] = l
	}
	return strings.Join(lines, "\n")
}

// The kubeconfig's server dies, the second proves to be somebody else, the third answers,
// first without the operation.
//
// covers: C-40
func TestFollowFailsOver(t *testing.T) {
	p := play(t, func(p *played, elapsed time.Duration) {
		switch {
		case elapsed < 4*time.Second:
		case elapsed < 40*time.Second:
			p.stages[0].set(away)
		case elapsed < 60*time.Second:
			p.stages[2].set(absent)
		case elapsed < 70*time.Second:
			p.stages[2].set(shows(operationAt(v1alpha1.PhaseRunning, v1alpha1.StepRejoining, "cp-b has not rejoined")))
		default:
			p.stages[2].set(shows(operationAt(v1alpha1.PhaseCompleted, v1alpha1.StepReconciling, "all machines are Ready")))
		}
	})
	p.stages[0].set(shows(operationAt(v1alpha1.PhaseRunning, v1alpha1.StepWiping, "cp-a is rebooting")))
	p.stages[1].set(shows(operationAt(v1alpha1.PhaseCompleted, "", "this server is another one's")))
	p.stages[2].set(unavailable)
	op, err := p.follow(t.Context())
	if err != nil || op.Status.Phase != v1alpha1.PhaseCompleted || op.Status.EtcdRestore.Message != "all machines are Ready" {
		t.Fatalf("%v, %+v", err, op)
	}
	got := p.text()
	for _, want := range []string{
		"Running Wiping: cp-a is rebooting\nAPI server https://127.0.0.1 does not answer\ntrying API server https://127.0.0.2\ntrying API server https://127.0.0.3\ntrying API server https://127.0.0.1\n",
		"trying API server https://127.0.0.3\nAPI server https://127.0.0.3 answered\n",
		"waiting for the restore to resume\n",
		"Running Rejoining: cp-b has not rejoined\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no\n%s\nin\n%s", want, got)
		}
	}
	if strings.Contains(got, "127.0.0.2 answered") {
		t.Errorf("a server with another's certificate was believed:\n%s", got)
	}
}

// The operation may be missing for just under fifteen minutes, counted anew each time.
//
// covers: C-40
func TestFollowMissing(t *testing.T) {
	almost := missingLimit - 3*time.Second
	p := play(t, func(p *played, elapsed time.Duration) {
		if again := elapsed - almost; again > 0 && again < 5*time.Second {
			p.stages[0].set(shows(operationAt(v1alpha1.PhaseRunning, v1alpha1.StepRejoining, "")))
		} else {
			p.stages[0].set(absent)
		}
	})
	p.stages[0].set(absent)
	_, err := p.follow(t.Context())
	const want = "nobody has resumed the restore: the API answers, and has had no operation rewind for 15m0s. See what the manager says (kubectl -n quorate-system logs deploy/quorate-manager); what it cannot finish, this does: quorate restore --recover-cluster"
	if !errors.Is(err, errUnresumed) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if elapsed := p.clock.Sub(p.began); elapsed < almost+missingLimit || elapsed > almost+missingLimit+10*time.Second {
		t.Errorf("it gave up after %s", elapsed)
	}
}

// Time in which no API server answers is not time in which one answers that the operation
// is missing.
//
// covers: C-40
func TestFollowMissingIsOnlyWhatIsAnswered(t *testing.T) {
	silence := missingLimit + 5*time.Minute
	var back time.Duration // when it answered again
	p := play(t, func(p *played, elapsed time.Duration) {
		switch {
		case elapsed >= time.Minute && elapsed < time.Minute+silence:
			p.stages[0].set(away)
		default:
			p.stages[0].set(absent)
		}
		if elapsed >= time.Minute+silence && back == 0 {
			back = elapsed
		}
	})
	p.stages[0].set(absent)
	p.stages[1].set(away)
	p.stages[2].set(away)
	_, err := p.follow(t.Context())
	if !errors.Is(err, errUnresumed) {
		t.Errorf("got %v", err)
	}
	if elapsed := p.clock.Sub(p.began); elapsed < back+missingLimit || elapsed > back+missingLimit+time.Minute {
		t.Errorf("it gave up after %s, and the API was back after %s", elapsed, back)
	}
}

// Nobody answers any more: bounded, with the pauses growing.
func TestFollowSilence(t *testing.T) {
	asked := 0
	p := play(t, func(*played, time.Duration) { asked++ })
	for _, s := range p.stages {
		s.set(away)
	}
	_, err := p.follow(t.Context())
	if !errors.Is(err, errSilence) || !strings.HasPrefix(err.Error(), "no API server answers since 2030-01-02T15:00:00Z (") || !strings.HasSuffix(err.Error(), "). Go on without one: quorate restore --recover-cluster") {
		t.Errorf("got %v", err)
	}
	if elapsed := p.clock.Sub(p.began); elapsed < silenceLimit || elapsed > silenceLimit+time.Minute || asked > 400 {
		t.Errorf("asked %d times in %s", asked, elapsed)
	}
}

// A pause is an end, and so is a person who stops looking.
func TestFollowEnds(t *testing.T) {
	p := play(t, func(*played, time.Duration) {})
	paused := operationAt(v1alpha1.PhasePaused, v1alpha1.StepRecovering, "")
	paused.Status.FailureReason = "60 minutes have passed"
	p.stages[0].set(shows(paused))
	op, err := p.follow(t.Context())
	if err != nil || ending(op) == nil || ending(op).Error() != "the operation is paused: 60 minutes have passed" {
		t.Errorf("%v, %v", err, ending(op))
	}
	ctx, cancel := context.WithCancel(t.Context())
	p = play(t, func(*played, time.Duration) { cancel() })
	p.stages[0].set(absent)
	if _, err := p.follow(ctx); !errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), "stop following operation rewind, which goes on: ") {
		t.Errorf("got %v", err)
	}
}

func TestRingURLs(t *testing.T) {
	for _, tt := range []struct {
		original string
		hosts    []string
		want     []string
		why      string
	}{
		{"https://k8s.example.com:443", []string{"192.0.2.11", "192.0.2.12"}, []string{"https://k8s.example.com:443", "https://192.0.2.11:443", "https://192.0.2.12:443"}, ""},
		{"https://k8s.example.com", []string{"192.0.2.11"}, []string{"https://k8s.example.com", "https://192.0.2.11:6443"}, ""},
		{"https://192.0.2.11:6443/", []string{"192.0.2.11", "192.0.2.12", "192.0.2.12", ""}, []string{"https://192.0.2.11:6443", "https://192.0.2.12:6443"}, ""},
		{"https://k8s.example.com:6443", []string{"2001:db8::11"}, []string{"https://k8s.example.com:6443", "https://[2001:db8::11]:6443"}, ""},
		{"https://192.0.2.11:6443", []string{"192.0.2.11"}, []string{"https://192.0.2.11:6443"}, "there is no other control plane whose address is known"},
		{"http://127.0.0.1:8080", []string{"192.0.2.11"}, []string{"http://127.0.0.1:8080"}, "the kubeconfig's server is not reached by TLS, so that no other one could prove what it is"},
		{"https://proxy.example.com/k8s/prod", []string{"192.0.2.11"}, []string{"https://proxy.example.com/k8s/prod"}, "the kubeconfig's server is behind the path /k8s/prod, which the control planes do not have"},
	} {
		original, err := url.Parse(tt.original)
		if err != nil {
			t.Fatal(err)
		}
		if got, why := ringURLs(original, tt.hosts); !slices.Equal(got, tt.want) || why != tt.why {
			t.Errorf("%s: got %v, %q", tt.original, got, why)
		}
	}
}

// A name that the kubeconfig sets stays the one that is verified.
func TestRingKeepsTheServerName(t *testing.T) {
	ca := newAuthority(t)
	answer := shows(operationAt(v1alpha1.PhaseRunning, "", ""))
	_, port := ca.serves(t, "127.0.0.1:0", func(w http.ResponseWriter, _ *http.Request) { answer(w) }, "192.0.2.9")
	ca.serves(t, "127.0.0.2:"+port, func(w http.ResponseWriter, _ *http.Request) { answer(w) }, "192.0.2.9")
	config := &rest.Config{Host: "https://127.0.0.1:" + port, TLSClientConfig: rest.TLSClientConfig{CAData: ca.pem, ServerName: "192.0.2.9"}}
	servers, _, err := ring(config, []string{"127.0.0.2"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		if _, err := s.get(t.Context(), types.NamespacedName{Namespace: "default", Name: "rewind"}); err != nil {
			t.Errorf("%s: %v", s.url, err)
		}
	}
}
