package manager

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/utils/clock"

	"github.com/quorate/quorate/webhooks"
)

// staying is a process that holds the lease and restores a cluster.
type staying struct {
	*stay
	restores atomic.Bool
	left     time.Duration // since the lease was lost; 0 while it stays
	said     []string
}

func newStaying() *staying {
	s := &staying{}
	s.restores.Store(true)
	began := time.Now()
	s.stay = &stay{busy: s.restores.Load, leave: func() { s.left = time.Since(began) }}
	s.log = funcr.New(func(_, args string) { s.said = append(s.said, args) }, funcr.Options{})
	return s
}

// loses has it take the lease and lose it.
func (s *staying) loses(t *testing.T) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	end()
	if err := s.term(t.Context())(ctx); err != nil {
		t.Fatal(err)
	}
}

// Whoever loses the lease stays for its restore and ends once that is over, after 70
// minutes at most. Without a restore it competes on, and who takes the lease again stays.
//
// covers: C-27
func TestStaysForTheRestore(t *testing.T) {
	for _, c := range []struct {
		label string
		play  func(t *testing.T, s *staying)
		left  time.Duration
		says  string
	}{
		{"the restore ends", func(t *testing.T, s *staying) {
			s.loses(t)
			<-time.After(30*time.Minute + 500*time.Millisecond)
			s.restores.Store(false)
		}, 30*time.Minute + time.Second, "it has lost the lease, and its restore is over"},
		{"it does not", func(t *testing.T, s *staying) { s.loses(t) }, 70 * time.Minute, "the restore is not over within its limit"},
		{"the lease is lost twice, and the time counts from the first", func(t *testing.T, s *staying) {
			s.loses(t)
			<-time.After(time.Hour)
			s.lost(t.Context())
		}, 70 * time.Minute, "the restore is not over within its limit"},
		{"no restore", func(t *testing.T, s *staying) { s.restores.Store(false); s.loses(t) }, 0, ""},
		{"the lease is taken again", func(t *testing.T, s *staying) {
			s.loses(t)
			<-time.After(time.Hour)
			s.won()
		}, 0, "the lease of the controllers is taken again"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newStaying()
			c.play(t, s)
			<-time.After(3 * time.Hour)
			synctest.Wait()
			if s.left != c.left {
				t.Errorf("%s: it left after %s, want %s (0: it stays)", c.label, s.left, c.left)
			}
			if !slices.ContainsFunc(append(s.said, ""), func(line string) bool { return strings.Contains(line, c.says) }) {
				t.Errorf("%s: it said %q, want %q", c.label, s.said, c.says)
			}
		})
	}
}

// The order to end is no loss: nothing is waited for.
func TestEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStaying()
		process, end := context.WithCancel(t.Context())
		end()
		if err := s.term(process)(process); err != nil || len(s.said) > 0 {
			t.Errorf("%v, %q", err, s.said)
		}
	})
}

// While it stays, the webhook and the probes answer; then it drains, and ends without an
// error.
//
// covers: C-27
func TestServesWhileItStays(t *testing.T) {
	r, o := testReplica(t, clock.RealClock{}, time.Millisecond)
	var restores atomic.Bool
	restores.Store(true)
	r.work.stay.busy = restores.Load
	ended := make(chan error, 1)
	go func() { ended <- r.run(t.Context()) }()
	await(t, "http://"+o.HealthAddress+"/readyz", http.StatusOK, "ok")
	lease, lose := context.WithCancel(t.Context())
	lose()
	if err := r.work.stay.term(t.Context())(lease); err != nil {
		t.Fatal(err)
	}
	await(t, "http://"+o.HealthAddress+"/healthz", http.StatusOK, "ok")
	await(t, "http://"+o.HealthAddress+"/readyz", http.StatusOK, "ok")
	if status, body := ask(t, gateClient(t, r, o), "https://"+o.WebhookAddress+webhooks.Path); status != http.StatusMethodNotAllowed {
		t.Errorf("the webhook answers %d %s while the process stays, want %d", status, body, http.StatusMethodNotAllowed)
	}
	restores.Store(false)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("end = %v, want no error", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the process is there a minute after its restore was over")
	}
}
