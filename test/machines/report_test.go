package machines

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/api/v1alpha1"
)

// says decides whether a condition has the reason and all texts in its message.
func says(conditions []metav1.Condition, kind, reason string, texts ...string) error {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil || c.Reason != reason {
		return fmt.Errorf("%w: %s does not say %s", errNotYet, kind, reason)
	}
	for _, text := range texts {
		if !strings.Contains(c.Message, text) {
			return fmt.Errorf("%w: the message of %s lacks %q", errNotYet, kind, text)
		}
	}
	return nil
}

// went wants the condition Removal to have passed these reasons in this order, and none
// that says that something stood in the way.
func (f *fleet) went(name string, reasons ...string) {
	f.t.Helper()
	all := f.story.removals(name)
	rest := reasons
	for _, r := range all {
		if len(rest) > 0 && r == rest[0] {
			rest = rest[1:]
		}
		if slices.Contains(obstacles, r) {
			f.t.Errorf("the removal of %s was at %s: %v", name, r, all)
		}
	}
	if len(rest) > 0 {
		f.t.Errorf("the removal of %s went %v, want %v", name, all, reasons)
	}
}

// obstacles are the reasons of a removal that does not go on.
var obstacles = []string{
	v1alpha1.ReasonRemovalRefused, v1alpha1.ReasonEtcdMemberRemovalFailed, v1alpha1.ReasonNodeNameUnresolved, v1alpha1.ReasonLockHeld,
}

// event is what was told of an object.
type event struct{ kind, name, level, reason, note string }

func (e event) String() string {
	return fmt.Sprintf("%s %s %s %s: %s", e.level, e.kind, e.name, e.reason, e.note)
}

// events are all of the namespace, oldest first.
func (f *fleet) events(ctx context.Context) (out []event, err error) {
	var list eventsv1.EventList
	if err := admin.List(ctx, &list, client.InNamespace(f.ns)); err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Items, func(a, b eventsv1.Event) int { return a.EventTime.Compare(b.EventTime.Time) })
	for _, e := range list.Items {
		out = append(out, event{e.Regarding.Kind, e.Regarding.Name, e.Type, e.Reason, e.Note})
	}
	return out, nil
}

// told waits for events about one object in this order, each as "reason: beginning of
// its note", and answers the last of them.
func (f *fleet) told(name string, beginnings ...string) (last event) {
	f.t.Helper()
	f.until("the events of "+name, func(ctx context.Context) error {
		all, err := f.events(ctx)
		if err != nil {
			return err
		}
		rest := slices.DeleteFunc(all, func(e event) bool { return e.name != name })
		for _, b := range beginnings {
			i := slices.IndexFunc(rest, func(e event) bool { return strings.HasPrefix(e.reason+": "+e.note, b) })
			if i < 0 {
				return fmt.Errorf("%w: no event %q in its place in\n%s", errNotYet, b, lines(all))
			}
			last, rest = rest[i], rest[i+1:]
		}
		return nil
	})
	return last
}

// untold wants no event with this reason about an object.
func (f *fleet) untold(name, reason string) {
	f.t.Helper()
	all, err := f.events(f.t.Context())
	must(f.t, err)
	for _, e := range all {
		if e.name == name && e.reason == reason {
			f.t.Errorf("it was told: %s", e)
		}
	}
}

func lines(events []event) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "  %s\n", e)
	}
	return b.String()
}

// describe is a machine in a few lines.
func describe(m *v1alpha1.TalosMachine) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s deleted=%t finalizers=%v address=%q node=%q member=%+v", m.Name, m.DeletionTimestamp != nil, m.Finalizers, m.Status.Address, m.Status.NodeName, m.Status.EtcdMember)
	for _, c := range m.Status.Conditions {
		fmt.Fprintf(&b, "\n  %s=%s %s: %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return b.String()
}

func describeCluster(c *v1alpha1.TalosCluster) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s count=%d clusterID=%s lock=%+v", c.Name, c.Spec.ControlPlane.Count, c.Status.ClusterID, c.Status.Lock)
	for _, d := range c.Status.Conditions {
		fmt.Fprintf(&b, "\n  %s=%s %s: %s", d.Type, d.Status, d.Reason, d.Message)
	}
	for _, m := range c.Status.Members {
		fmt.Fprintf(&b, "\n  member %q %s %s started=%t healthy=%t leader=%t", m.Name, m.ID, m.Role, m.Started, m.Healthy, m.Leader)
	}
	for _, r := range c.Status.RemovedMembers {
		fmt.Fprintf(&b, "\n  ledger %s %s %s %v", r.Name, r.ID, r.State, r.PeerURLs)
	}
	return b.String()
}

// report is what a failed test needs to be understood.
func (f *fleet) report() string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	text := "namespace " + f.ns + "\n"
	c := &v1alpha1.TalosCluster{}
	if err := admin.Get(ctx, f.key(f.name), c); err == nil {
		text += describeCluster(c)
	}
	var machines v1alpha1.TalosMachineList
	if err := admin.List(ctx, &machines, client.InNamespace(f.ns)); err == nil {
		for _, m := range machines.Items {
			text += "\n" + describe(&m)
		}
	}
	for _, n := range f.talos.Nodes() {
		text += fmt.Sprintf("\n%s %s: removal went %v", n.Name, n.IP, f.story.removals(n.Name))
	}
	events, _ := f.events(ctx)
	text += "\n--- events\n" + lines(events) + "--- calls" + tell(f.calls(leave, remove, forfeit))
	return text + f.logs()
}

// logs are the managers' last lines about this fleet, and what its etcds said last.
func (f *fleet) logs() string {
	text := ""
	if controllers != nil {
		log, _ := controllers.Log()
		text += "\n--- " + controllers.Name + "\n" + tail(about(log, f.ns), 40)
	}
	return text + f.talos.Logs()
}

func about(log, ns string) string {
	var kept []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, ns) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n    ")
}
