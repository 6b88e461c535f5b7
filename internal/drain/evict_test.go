package drain

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	errDown = errors.New("connection refused")
	pods    = schema.GroupResource{Resource: "pods"}
	// notServed is what client-go makes of a 404 that is no Kubernetes answer.
	notServed = apierrors.NewGenericServerResponse(404, "get", pods, "b", "404 page not found", 0, true)
)

// budget is the API server's answer when a PodDisruptionBudget allows no disruption.
func budget(text string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: policyv1.DisruptionBudgetCause, Message: text}}
	return err
}

func TestABudgetBlocksItsPodAlone(t *testing.T) {
	w := newWorld(t, node(corev1.ConditionTrue), pod("a"), pod("b"), pod("c"))
	w.refuse["web/b"] = budget("The disruption budget shop needs 2 healthy pods and has 2 currently")
	for range 2 { // the one that was refused is asked again
		p := w.step(t)
		same(t, "left", p.Left, "web/a", "web/b", "web/c")
		same(t, "blocked", p.Blocked, "web/b: Cannot evict pod as it would violate the pod's disruption budget. "+
			"The disruption budget shop needs 2 healthy pods and has 2 currently")
		same(t, "evicted", w.asked(), "web/a", "web/b", "web/c")
	}
}

func TestAnswersToAnEviction(t *testing.T) {
	leaving := apierrors.NewForbidden(pods, "b", errors.New("the namespace is being terminated"))
	leaving.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	severalBudgets := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: 500, Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
	}}
	for name, c := range map[string]struct {
		refusal error
		gone    bool
		blocked string
		want    string
	}{
		"gone meanwhile":         {refusal: apierrors.NewNotFound(pods, "b"), gone: true},
		"another of that name":   {refusal: apierrors.NewConflict(pods, "b", errors.New("the UID differs"))},
		"its namespace goes":     {refusal: leaving},
		"404 of a proxy":         {refusal: notServed, blocked: "web/b: " + notServed.Error() + " 404 page not found"},
		"several budgets":        {refusal: severalBudgets, blocked: "web/b: " + severalBudgets.ErrStatus.Message},
		"no permission":          {refusal: apierrors.NewForbidden(pods, "b", errors.New("not allowed")), blocked: `web/b: pods "b" is forbidden: not allowed`},
		"the API server is away": {refusal: errDown, want: "drain Node cp-2: evict Pod web/b: connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, node(corev1.ConditionTrue), pod("a"), pod("b"))
			w.refuse["web/b"] = c.refusal
			p, err := (&Drainer{Client: w}).Step(t.Context(), "cp-2")
			says(t, err, c.want)
			left, blocked := []string{"web/a", "web/b"}, []string{}
			if c.gone {
				left = left[:1]
			}
			if c.blocked != "" {
				blocked = append(blocked, c.blocked)
			}
			same(t, "left", p.Left, left...)
			same(t, "blocked", p.Blocked, blocked...)
			same(t, "evicted", w.asked(), "web/a", "web/b")
		})
	}
}

func TestTheLastPodThatIsGoneMeanwhileEndsTheDrain(t *testing.T) {
	w := newWorld(t, node(corev1.ConditionTrue), pod("b"))
	w.refuse["web/b"] = apierrors.NewNotFound(pods, "b")
	if p := w.step(t); !p.Done() {
		t.Errorf("progress = %+v, want done", p)
	}
}

func TestErrorsOfTheAPIServerAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		verb, resource string
		err            error
		want           string
	}{
		"404 of a proxy": {"get", "nodes", notServed, "drain Node cp-2: get it: the server could not find the requested resource (get pods b)"},
		"get":            {"get", "nodes", errDown, "drain Node cp-2: get it: connection refused"},
		"cordon":         {"patch", "nodes", errDown, "drain Node cp-2: cordon it: connection refused"},
		"list":           {"list", "pods", errDown, "drain Node cp-2: list its pods: connection refused"},
		"DaemonSets":     {"get", "daemonsets", errDown, "drain Node cp-2: list its pods: cannot delete connection refused: web/daemon"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, node(corev1.ConditionTrue), daemonSet("logs"), pod("a"), pod("daemon", of("DaemonSet", "logs")))
			w.fail(c.verb, c.resource, c.err)
			p, err := (&Drainer{Client: w}).Step(t.Context(), "cp-2")
			says(t, err, c.want)
			if p.Done() {
				t.Error("done, and nothing is known")
			}
			same(t, "evicted", w.asked())
		})
	}
}

func says(t *testing.T, err error, want string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != want {
		t.Errorf("error = %q\nwant    %q", got, want)
	}
}
