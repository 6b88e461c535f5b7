package manager

import (
	"context"
	"fmt"
	"os"
	"time"
	"unicode/utf8"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"

	"github.com/quorate/quorate/internal/doctor"
	"github.com/quorate/quorate/manifests"
	"github.com/quorate/quorate/webhooks"
)

const (
	driftInterval = 10 * time.Minute
	driftTimeout  = 10 * time.Second
	// maxNote is what an Event's note may hold, in bytes.
	maxNote = 1024
)

// driftWatch compares the live CRDs with those that this binary carries. Drift
// stops nothing: the live CRD still refuses by its own rules. It is said in a
// metric, in the log, and once in an Event on the CRD.
type driftWatch struct {
	namespace  string
	want       []*apiextensionsv1.CustomResourceDefinition
	client     kubernetes.Interface
	extensions apiextensionsclient.Interface
	metrics    *webhooks.Metrics
	log        logr.Logger
	// told holds the drift that an Event has told of, by CRD.
	told map[string]bool
}

func newDriftWatch(o Options, client kubernetes.Interface, extensions apiextensionsclient.Interface, metrics *webhooks.Metrics) (*driftWatch, error) {
	want, err := manifests.LoadCRDs()
	if err != nil {
		return nil, fmt.Errorf("load the CRDs: %w", err)
	}
	return &driftWatch{
		namespace: o.Namespace, want: want, client: client, extensions: extensions,
		metrics: metrics, log: o.Log.WithName("drift"), told: map[string]bool{},
	}, nil
}

// run looks at once and then at intervals, until the context ends.
func (d *driftWatch) run(ctx context.Context) error {
	wait.JitterUntilWithContext(ctx, d.look, driftInterval, 0.1, true)
	return nil
}

func (d *driftWatch) look(ctx context.Context) {
	for _, want := range d.want {
		if err := d.compare(ctx, want); err != nil && ctx.Err() == nil {
			d.log.Error(err, "look for drift", "crd", want.Name)
		}
	}
}

func (d *driftWatch) compare(ctx context.Context, want *apiextensionsv1.CustomResourceDefinition) error {
	ctx, cancel := context.WithTimeout(ctx, driftTimeout)
	defer cancel()
	live, err := d.extensions.ApiextensionsV1().CustomResourceDefinitions().Get(ctx, want.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read CRD %s: %w", want.Name, err)
	}
	seen := driftOf(want, live)
	d.metrics.SetRuleDrift(want.Name, seen != "")
	if seen == "" || d.told[want.Name] {
		d.told[want.Name] = seen != ""
		return nil
	}
	d.log.Info("the live CRD differs from this version's", "crd", want.Name, "seen", seen)
	if err := d.tell(ctx, live, seen); err != nil {
		return err // told at the next look
	}
	d.told[want.Name] = true
	return nil
}

// driftOf is what differs, or empty.
func driftOf(want, live *apiextensionsv1.CustomResourceDefinition) string {
	for _, f := range doctor.JudgeCRD(want, live) {
		if f.State != doctor.OK {
			return f.Seen + ". " + f.WayOut
		}
	}
	return ""
}

func (d *driftWatch) tell(ctx context.Context, live *apiextensionsv1.CustomResourceDefinition, seen string) error {
	host, err := os.Hostname()
	if err != nil {
		host = "manager"
	}
	event := &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "quorate-drift-", Namespace: metav1.NamespaceDefault},
		EventTime:  metav1.NowMicro(),
		Regarding: corev1.ObjectReference{
			APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition", Name: live.Name, UID: live.UID,
		},
		Reason: "RuleDrift", Action: "CompareRules", Type: corev1.EventTypeWarning,
		Note:                cut(seen, maxNote),
		ReportingController: "quorate.dev/manager", ReportingInstance: host,
	}
	if _, err := d.client.EventsV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("tell of drift in an event: %w", err)
	}
	return nil
}

// cut shortens a text to so many bytes, between two characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
