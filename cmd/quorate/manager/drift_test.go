package manager

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	extensionsfake "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/fake"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/webhooks"
)

// installedCRDs are the CRDs of this version as an API server has them.
func installedCRDs(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := manifests.LoadCRDs()
	if err != nil {
		t.Fatalf("load the CRDs: %v", err)
	}
	for _, crd := range crds {
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	}
	return crds
}

type driftBench struct {
	*driftWatch
	registry   *prometheus.Registry
	client     *fake.Clientset
	extensions *extensionsfake.Clientset
}

func newDriftBench(t *testing.T) *driftBench {
	t.Helper()
	b := &driftBench{registry: prometheus.NewRegistry(), client: fake.NewClientset(), extensions: extensionsfake.NewClientset()}
	for _, crd := range installedCRDs(t) {
		if err := b.extensions.Tracker().Add(crd); err != nil {
			t.Fatalf("install %s: %v", crd.Name, err)
		}
	}
	metrics, err := webhooks.NewMetrics(b.registry)
	if err != nil {
		t.Fatalf("make metrics: %v", err)
	}
	o := Defaults()
	o.Log = logr.Discard()
	if b.driftWatch, err = newDriftWatch(o, b.client, b.extensions, metrics); err != nil {
		t.Fatalf("make a drift watch: %v", err)
	}
	return b
}

// change edits the installed schema of Etcd.
func (b *driftBench) change(t *testing.T, edit func(*apiextensionsv1.JSONSchemaProps)) {
	t.Helper()
	api := b.extensions.ApiextensionsV1().CustomResourceDefinitions()
	crd, err := api.Get(t.Context(), "etcds.quorate.dev", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the CRD: %v", err)
	}
	edit(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	if _, err := api.Update(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
		t.Fatalf("change the CRD: %v", err)
	}
}

func (b *driftBench) events(t *testing.T) []eventsv1.Event {
	t.Helper()
	list, err := b.client.EventsV1().Events(metav1.NamespaceDefault).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatalf("list events: %v", err)
	}
	return list.Items
}

// gauge checks the drift figures; only Etcd's is given.
func (b *driftBench) gauge(t *testing.T, etcds string) {
	t.Helper()
	want := "# HELP quorate_rule_drift 1 where the rules of the installed CRD differ from those of this release, else 0.\n# TYPE quorate_rule_drift gauge\n"
	for _, crd := range []string{"etcds", "talosclusters", "talosetcdbackups", "talosmachines", "talosoperations"} {
		value := "0"
		if crd == "etcds" {
			value = etcds
		}
		want += `quorate_rule_drift{crd="` + crd + `.quorate.dev"} ` + value + "\n"
	}
	if err := testutil.GatherAndCompare(b.registry, strings.NewReader(want), "quorate_rule_drift"); err != nil {
		t.Error(err)
	}
}

// A rule that is taken out of the live CRD is told once, in all three places,
// and so is its coming back and going again.
func TestDriftIsToldOnTransitions(t *testing.T) {
	b := newDriftBench(t)
	b.look(t.Context())
	b.gauge(t, "0")
	if got := b.events(t); len(got) != 0 {
		t.Errorf("%d events without drift, want none", len(got))
	}

	var kept apiextensionsv1.ValidationRules
	remove := func(s *apiextensionsv1.JSONSchemaProps) { kept, s.XValidations = s.XValidations, nil }
	restore := func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = kept }
	b.change(t, remove)
	b.look(t.Context())
	b.look(t.Context())
	b.gauge(t, "1")
	told := b.events(t)
	if len(told) != 1 {
		t.Fatalf("%d events of one drift, want 1", len(told)) // whether looked at once or twice
	}
	if e := told[0]; e.Reason != "RuleDrift" || e.Type != "Warning" || e.Regarding.Name != "etcds.quorate.dev" || !strings.Contains(e.Note, "shared-not-to-zero") {
		t.Errorf("event = %s %s on %s: %s; want a RuleDrift warning on etcds.quorate.dev that names shared-not-to-zero", e.Type, e.Reason, e.Regarding.Name, e.Note)
	}

	b.change(t, restore)
	b.look(t.Context())
	b.gauge(t, "0")
	b.change(t, remove)
	b.client.ClearActions()
	b.look(t.Context())
	created := 0
	for _, a := range b.client.Actions() {
		if a.Matches("create", "events") {
			created++
		}
	}
	if created != 1 {
		t.Errorf("%d events when drift comes again, want 1", created)
	}
}

// An Event that was not taken is sent again at the next look, and then no more.
func TestDriftIsToldAfterAFailure(t *testing.T) {
	b := newDriftBench(t)
	sent, away := 0, true
	b.client.PrependReactor("create", "events", func(clienttesting.Action) (bool, runtime.Object, error) {
		sent++
		return away, nil, errors.New("away")
	})
	b.change(t, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
	b.look(t.Context())
	away = false
	b.look(t.Context())
	b.look(t.Context())
	if told := b.events(t); sent != 2 || len(told) != 1 {
		t.Errorf("%d events sent, %d taken; want 2, and 1", sent, len(told))
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abc", 2, "ab"}, {"añb", 2, "a"}, {"añb", 3, "añ"}, {"日本", 5, "日"}, {"日", 2, ""}, {"", 0, ""}} {
		if got := cut(c.text, c.most); got != c.want {
			t.Errorf("cut(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
}

func TestDriftWatchEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newDriftBench(t).run(ctx); err != nil {
		t.Errorf("error = %v, want none", err)
	}
}
