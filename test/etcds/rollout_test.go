package etcds

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard"
)

const mark = "example.com/mark"

// annotate changes the pods' template.
func (p *plant) annotate() {
	p.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"pod":{"annotations":{%q:"new"}}}}`, mark)
	must(p.t, admin.Patch(p.t.Context(), p.get(), client.RawPatch("application/merge-patch+json", patch)))
}

// rolled waits until these ordinals' pods have the new template and are ready.
func (p *plant) rolled(ordinals ...int) {
	p.t.Helper()
	p.until(fmt.Sprintf("the pods %v to have the new template", ordinals), func(*v1alpha1.Etcd) error {
		pods, err := p.pods(p.t.Context())
		for _, i := range ordinals {
			fresh := slices.ContainsFunc(pods, func(pod corev1.Pod) bool {
				return pod.Name == p.pod(i) && pod.Annotations[mark] == "new" && pod.DeletionTimestamp.IsZero()
			})
			if err == nil && !fresh {
				err = fmt.Errorf("%w: not %s", errNotYet, p.pod(i))
			}
		}
		return err
	})
}

//
func TestTemplateIsRolledOnePodAtATime(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	p.lead(0)
	old := p.ids()
	calm, order := p.watchPods(2)
	quiet := p.watchList(quorate())
	p.annotate()
	p.rolled(0, 1, 2)
	p.settled(3)
	quiet()
	calm()
	p.sameBut(old, -1)
	p.kept()
	moves := slices.DeleteFunc(p.story("LeaderMoved: "), func(e string) bool { return !strings.HasPrefix(e, "LeaderMoved: ") })
	restarts := order()
	if len(restarts) != 3 || len(moves) != 1 || !strings.HasPrefix(moves[0], "LeaderMoved: Leadership moved from "+restarts[len(restarts)-1]+" to ") {
		t.Errorf("restarts %v and %v, want each pod once, and leadership to move once, off the last one", restarts, moves)
	}
}

// While a member is dead, only its own pod is restarted for the change: that may heal
// it. The others follow once it is back.
//
//
func TestTemplateIsRolledPastADeadMember(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 3)
	p.put("three")
	back := p.down(2)
	p.podsAre(3)
	calm, order := p.watchPods(2)
	p.annotate()
	p.rolled(2)
	p.until("the dead one to be waited for", func(e *v1alpha1.Etcd) error {
		return waitsFor(e, "A changed template is rolled out; main-2 is waited for.")
	})
	if got := order(); !slices.Equal(got, []string{"main-2"}) {
		t.Errorf("restarted: %v, want main-2 alone", got)
	}
	back()
	p.rolled(0, 1, 2)
	p.settled(3)
	calm()
	if got := order(); len(got) != 3 {
		t.Errorf("restarted: %v, want each pod once", got)
	}
	p.kept()
}

func TestTemplateIsRolledOnTheOnlyMember(t *testing.T) {
	t.Parallel()
	p := newPlant(t, 1)
	p.put("one")
	_, order := p.watchPods(0)
	p.annotate()
	p.rolled(0)
	p.settled(1)
	if got := order(); !slices.Equal(got, []string{"main-0"}) {
		t.Errorf("restarted: %v, want main-0 once", got)
	}
	p.kept()
}

// leaderless is how many lists in a row may lack a quorum: while leadership moves, no
// member has a leader for a moment. One that is lost stays so for seconds.
const leaderless = 3

// quorate wants a quorum in all lists but for such moments.
func quorate() func([]guard.Member) error {
	without := 0
	return func(members []guard.Member) error {
		count := guard.CountOf(members)
		if count.Quorate() {
			without = 0
			return nil
		}
		if without++; without > leaderless {
			return fmt.Errorf("no quorum in %d lists: %s", without, count)
		}
		return nil
	}
}

// watchPods sees every change of the plant's pods, and wants that many ready at all
// times until it is calm. order is which pods were deleted so far.
func (p *plant) watchPods(ready int) (calm func(), order func() []string) {
	p.t.Helper()
	scheme := admin.Scheme()
	watching, err := client.NewWithWatch(shared.AdminConfig(), client.Options{Scheme: scheme})
	must(p.t, err)
	ctx, cancel := context.WithCancel(p.t.Context())
	p.t.Cleanup(cancel)
	here := []client.ListOption{client.InNamespace(p.ns), client.MatchingLabels{"app.kubernetes.io/instance": p.name}}
	var pods corev1.PodList
	must(p.t, admin.List(ctx, &pods, here...))
	changes, err := watching.Watch(ctx, &corev1.PodList{}, append(here, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: pods.ResourceVersion}})...)
	must(p.t, err)
	w := &podWatch{able: map[string]bool{}, want: ready}
	for _, pod := range pods.Items {
		w.able[pod.Name] = podReady(&pod)
	}
	var done sync.WaitGroup
	done.Go(func() {
		for event := range changes.ResultChan() {
			w.see(event)
		}
	})
	calm = func() {
		cancel()
		done.Wait()
		if len(w.bad) > 0 {
			p.t.Errorf("fewer than %d pods ready:\n%s", ready, strings.Join(w.bad, "\n"))
		}
	}
	return calm, w.order
}

type podWatch struct {
	mutex   sync.Mutex
	want    int
	able    map[string]bool // by name: ready and not on its way out
	deleted []string
	bad     []string
}

func (w *podWatch) see(event watch.Event) {
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.able[pod.Name] = event.Type != watch.Deleted && podReady(pod) && pod.DeletionTimestamp.IsZero()
	if event.Type == watch.Deleted {
		w.deleted = append(w.deleted, pod.Name)
	}
	n := 0
	for _, able := range w.able {
		if able {
			n++
		}
	}
	if n < w.want {
		w.bad = append(w.bad, fmt.Sprintf("%d: %v", n, w.able))
	}
}

func (w *podWatch) order() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return slices.Clone(w.deleted)
}

func podReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}
