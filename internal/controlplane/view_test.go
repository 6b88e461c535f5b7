package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/internal/etcd"
	"github.com/quorate/quorate/internal/talos"
)

// played is an etcd cluster that answers as told, and keeps whom it was asked through
// and when.
type played struct {
	mu    sync.Mutex
	start time.Time
	asked []string
	open  int
	// answers are by the endpoints, joined by blanks; without one there is none until
	// the caller gives up.
	answers map[string]func() (*etcd.View, error)
}

type way struct {
	of        *played
	endpoints string
}

func (p *played) dial(_ context.Context, o etcd.Options) (viewer, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	endpoints := strings.NewReplacer("https://192.0.2.", "", ":2379", "").Replace(strings.Join(o.Endpoints, " "))
	p.asked = append(p.asked, fmt.Sprintf("%s after %s of %x", endpoints, time.Since(p.start), o.ClusterID))
	p.open++
	return way{p, endpoints}, nil
}

func (w way) View(ctx context.Context) (*etcd.View, error) {
	if answer, ok := w.of.answers[w.endpoints]; ok {
		return answer()
	}
	<-ctx.Done()
	return nil, fmt.Errorf("ask %s: %w", w.endpoints, ctx.Err())
}

func (w way) Close() error {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.open--
	return nil
}

func fails(text string) func() (*etcd.View, error) {
	return func() (*etcd.View, error) { return nil, errors.New(text) }
}

func answers(id uint64) func() (*etcd.View, error) {
	return func() (*etcd.View, error) { return &etcd.View{ClusterID: id}, nil }
}

func other() (*etcd.View, error) {
	return nil, fmt.Errorf("list: %w: b, and not a", etcd.ErrOtherCluster)
}

func five() []v1alpha1.TalosMachine {
	leaves := func(m *v1alpha1.TalosMachine) { m.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }
	return []v1alpha1.TalosMachine{
		*machine("cp-1", "192.0.2.1", leaves),
		*machine("cp-2", "192.0.2.2:50001", nil),
		*machine("cp-3", "192.0.2.3", nil),
		*machine("cp-4", "192.0.2.4", func(m *v1alpha1.TalosMachine) { m.Spec.Approved = false }),
		*machine("worker-1", "192.0.2.5", func(m *v1alpha1.TalosMachine) { m.Spec.Role = v1alpha1.MachineWorker }),
	}
}

// Whom View asks, and when. Neither a worker nor a machine that nobody approved is
// asked, and one that is being deleted is asked last.
func TestViewAsks(t *testing.T) {
	cases := []struct {
		name    string
		answers map[string]func() (*etcd.View, error)
		asked   []string
		want    string
	}{
		{"all well", map[string]func() (*etcd.View, error){"2 3": answers(10)},
			[]string{"2 3 after 0s of a"}, ""},
		{"one is cut off and the first asked", map[string]func() (*etcd.View, error){"3": answers(10)},
			[]string{"2 3 after 0s of a", "2 after 1s of a", "3 after 2s of a"}, ""},
		{"only the one that leaves answers", map[string]func() (*etcd.View, error){"2 3": fails("refused"), "2": fails("2 refused"), "3": fails("3 refused"), "1": answers(10)},
			[]string{"2 3 after 0s of a", "2 after 0s of a", "3 after 0s of a", "1 after 0s of a"}, ""},
		{"one is of another cluster", map[string]func() (*etcd.View, error){"2 3": other, "2": other, "3": answers(10)},
			[]string{"2 3 after 0s of a", "2 after 0s of a", "3 after 0s of a"}, ""},
		{"another cluster", map[string]func() (*etcd.View, error){"2 3": fails("refused"), "2": other, "3": fails("3 refused"), "1": fails("1 refused")},
			[]string{"2 3 after 0s of a", "2 after 0s of a", "3 after 0s of a", "1 after 0s of a"}, "list: another cluster answers: b, and not a"},
		{"no quorum", map[string]func() (*etcd.View, error){"2 3": fails("no quorum"), "2": fails("2"), "3": fails("3"), "1": fails("1")},
			[]string{"2 3 after 0s of a", "2 after 0s of a", "3 after 0s of a", "1 after 0s of a"}, "no quorum"},
		{"silence", nil,
			[]string{"2 3 after 0s of a", "2 after 1s of a", "3 after 2s of a", "1 after 3s of a"}, "ask 2 3: context deadline exceeded"},
	}
	bundle := loaded(t)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &played{start: time.Now(), answers: c.answers}
				a := New(nil, talos.Timeouts{})
				a.dial = p.dial
				view, err := a.View(t.Context(), bundle, five(), "a")
				if got := fmt.Sprint(err); err != nil && got != c.want || err == nil && (c.want != "" || view.ClusterID != 10) {
					t.Errorf("got %+v, %s, want %s", view, got, c.want)
				}
				if errors.Is(err, ErrOtherCluster) != (c.name == "another cluster") {
					t.Errorf("%v is ErrOtherCluster: %t", err, errors.Is(err, ErrOtherCluster))
				}
				if !slices.Equal(p.asked, c.asked) {
					t.Errorf("asked %q\nwant  %q", p.asked, c.asked)
				}
				if p.open != 0 {
					t.Errorf("%d connections are open", p.open)
				}
				if passed := time.Since(p.start); passed > viewTimeout {
					t.Errorf("it took %s", passed)
				}
			})
		})
	}
}

func TestViewOfOneAndOfNone(t *testing.T) {
	p := &played{start: time.Now(), answers: map[string]func() (*etcd.View, error){"3": answers(11)}}
	a := New(nil, talos.Timeouts{})
	a.dial = p.dial
	view, err := a.View(t.Context(), loaded(t), five()[2:], "")
	if err != nil || view.ClusterID != 11 || len(p.asked) != 1 || !strings.HasSuffix(p.asked[0], " of 0") {
		t.Errorf("got %+v, %v; asked %q", view, err, p.asked)
	}
	_, err = a.View(t.Context(), loaded(t), five()[3:], "")
	if !errors.Is(err, ErrNoControlPlane) || err.Error() != "no TalosMachine is an approved control plane" {
		t.Errorf("got %v", err)
	}
}
