package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/quorate/quorate/certs"
	"github.com/quorate/quorate/test/world"
)

// shortLived renews a leaf every few seconds, and lets a rotation of the authority
// end within a minute. The log of a refused handshake is a detail.
var shortLived = []string{
	"--certificate-leaf-lifetime=12s", "--certificate-grace=3s", "--certificate-skew=10s", "--certificate-poll=500ms", "--drain-delay=3s", "--verbose",
}

// fleet is two replicas of the gate in the place of the shared world's one.
type fleet struct {
	t        *testing.T
	running  []*world.Manager
	started  int
	ready    map[*world.Manager]int // how much it had logged when it was ready
	renewals int                    // of leaves, in replicas that were ready
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, ready: map[*world.Manager]int{}}
	ordinary := shared.Managers()
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		for _, m := range f.running {
			must(t, m.Stop())
		}
		shared.SetManagers()
		must(t, shared.StartManagers(ctx))
		must(t, shared.Enforce(ctx, world.AllLayers...))
	})
	for range 2 {
		f.running = append(f.running, f.start())
	}
	shared.SetManagers(f.running...)
	for _, m := range ordinary {
		must(t, m.Stop())
	}
	return f
}

func (f *fleet) start() *world.Manager {
	f.started++
	m, err := shared.StartManager(f.t.Context(), fmt.Sprintf("rolling-%d", f.started), shortLived...)
	must(f.t, err)
	log, err := m.Log()
	must(f.t, err)
	f.ready[m] = len(log)
	return m
}

// restart replaces every replica, one after the other, as a Deployment does that
// may not lose one: the new one is ready first, and the old one leaves the Service
// only after it was told to stop.
func (f *fleet) restart() {
	for range f.running {
		old := f.running[0]
		f.running = append(slices.Clone(f.running[1:]), f.start())
		shared.SetManagers(append(slices.Clone(f.running), old)...)
		stopped := make(chan error, 1)
		go func() { stopped <- old.Stop() }()
		until(f.t, old.Name+" drains", func(ctx context.Context) error {
			if old.Ready(ctx) == nil {
				return errStillReady
			}
			return nil
		})
		shared.SetManagers(f.running...)
		must(f.t, <-stopped)
		f.review(old)
	}
}

var errStillReady = errors.New("it is still ready")

// review reads what the replica has logged since it was ready: no handshake that
// an API server did not accept. Before, its own readiness check may fail.
func (f *fleet) review(m *world.Manager) {
	log, err := m.Log()
	must(f.t, err)
	for line := range strings.Lines(log[f.ready[m]:]) {
		switch {
		case strings.Contains(line, "x509"), strings.Contains(line, "handshake error"):
			f.t.Errorf("%s logged %s", m.Name, line)
		case strings.Contains(line, "serving certificate renewed"):
			f.renewals++
		}
	}
}

// authority is the name of the one that signs now, and how many are trusted.
func authority(ctx context.Context) (current []byte, rotating bool, err error) {
	secret, err := shared.Client().CoreV1().Secrets(world.Namespace).Get(ctx, world.CASecretName, metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	_, asked := secret.Annotations[certs.AnnotationRotate]
	return secret.Data["tls.crt"], asked || len(secret.Data) > 2, nil
}

func rotate(t *testing.T) {
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"now"}}}`, certs.AnnotationRotate)
	_, err := shared.Client().CoreV1().Secrets(world.Namespace).Patch(t.Context(), world.CASecretName, types.MergePatchType, patch, metav1.PatchOptions{})
	must(t, err)
}

var errRotating = errors.New("the rotation has not got there")

// TestRollingRestartAndRotation: a constant stream of requests at two replicas
// behind the Service, a rolling restart, then a forced rotation of the authority
// with a rolling restart in each of its stages, while leaves are renewed all the
// time. Every request gets its right answer.
func TestRollingRestartAndRotation(t *testing.T) {
	f := newFleet(t)
	before := counted(t)
	s := newStream(t)
	f.restart()
	first, rotating, err := authority(t.Context())
	must(t, err)
	if rotating {
		t.Fatal("an authority is replaced already")
	}
	rotate(t)
	stage := func(what string, there func(current []byte, rotating bool) bool) {
		until(t, what, func(ctx context.Context) error {
			current, rotating, err := authority(ctx)
			if err == nil && !there(current, rotating) {
				err = fmt.Errorf("%w: %s", errRotating, what)
			}
			return err
		})
		f.restart()
		for _, m := range f.running {
			trusted(t, m)
		}
	}
	stage("a next authority", func(current []byte, rotating bool) bool { return rotating && slices.Equal(current, first) })
	stage("another that signs", func(current []byte, _ bool) bool { return !slices.Equal(current, first) })
	stage("the first one's end", func(_ []byte, rotating bool) bool { return !rotating })

	s.end()
	for _, m := range f.running {
		f.review(m)
	}
	after := counted(t)
	requests := float64(s.allowed.Load() + s.refused.Load())
	t.Logf("%.0f requests answered as they should: %d allowed, %d refused by rule; %d lost; %d restarts, %d leaves renewed; the API server called the gate %.0f times, %.0f without an answer",
		requests, s.allowed.Load(), s.refused.Load(), s.lost.Load(), f.started-2, f.renewals, after.calls-before.calls, after.failed-before.failed)
	if after.calls-before.calls < requests {
		t.Errorf("the API server called the gate %.0f times for %.0f requests", after.calls-before.calls, requests)
	}
	if after.failed != before.failed {
		t.Errorf("the API server counts %.0f calls without an answer", after.failed-before.failed)
	}
	if f.renewals == 0 {
		t.Error("no leaf was renewed while it was served")
	}
}
