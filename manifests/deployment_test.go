package manifests_test

import (
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/quorate/quorate/cmd/quorate/manager"
	"github.com/quorate/quorate/webhooks"
)

func container(t *testing.T) (appsv1.DeploymentSpec, corev1.Container) {
	t.Helper()
	d := only[*appsv1.Deployment](t)
	if n := len(d.Spec.Template.Spec.Containers); n != 1 {
		t.Fatalf("%d containers, want 1", n)
	}
	return d.Spec, d.Spec.Template.Spec.Containers[0]
}

func TestReplicasAreSpreadAndKept(t *testing.T) {
	spec, _ := container(t)
	if *spec.Replicas != 2 || spec.Strategy.RollingUpdate.MaxUnavailable.IntValue() != 0 {
		t.Errorf("%d replicas, %s unavailable in a rollout; want 2 and 0", *spec.Replicas, spec.Strategy.RollingUpdate.MaxUnavailable)
	}
	if s := spec.Template.Spec.TopologySpreadConstraints; len(s) != 1 || s[0].TopologyKey != corev1.LabelHostname {
		t.Errorf("spread = %+v, want one over %s", s, corev1.LabelHostname)
	}
	pods := labels.Set(spec.Template.Labels)
	budget := only[*policyv1.PodDisruptionBudget](t)
	for name, selector := range map[string]labels.Selector{
		"deployment": labels.SelectorFromSet(spec.Selector.MatchLabels),
		"budget":     labels.SelectorFromSet(budget.Spec.Selector.MatchLabels),
		"service":    labels.SelectorFromSet(only[*corev1.Service](t).Spec.Selector),
		"spread":     labels.SelectorFromSet(spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels),
	} {
		if selector.Empty() || !selector.Matches(pods) {
			t.Errorf("the %s selects %s, the pods have %s", name, selector, pods)
		}
	}
	if budget.Spec.MinAvailable.IntValue() != 1 {
		t.Errorf("the budget keeps %s, want 1", budget.Spec.MinAvailable)
	}
}

// The kubelet must not kill a replica that still answers.
func TestGracePeriodOutlastsTheDrain(t *testing.T) {
	spec, _ := container(t)
	grace := time.Duration(*spec.Template.Spec.TerminationGracePeriodSeconds) * time.Second
	if drain := webhooks.DefaultDrainDelay + webhooks.DefaultShutdownTimeout; grace < drain+5*time.Second {
		t.Errorf("grace period %s, want at least 5 s more than the drain's %s", grace, drain)
	}
}

func TestPortsAreTheManagers(t *testing.T) {
	_, c := container(t)
	o := manager.Defaults()
	ports := map[string]string{}
	for _, p := range c.Ports {
		ports[p.Name] = strconv.Itoa(int(p.ContainerPort))
	}
	for name, address := range map[string]string{"webhook": o.WebhookAddress, "probes": o.HealthAddress, "metrics": o.MetricsAddress} {
		if _, port, err := net.SplitHostPort(address); err != nil || ports[name] != port {
			t.Errorf("port %s = %s, want that of %s (%v)", name, ports[name], address, err)
		}
	}
	if got := only[*corev1.Service](t).Spec.Ports[0].TargetPort.StrVal; got != "webhook" {
		t.Errorf("the service leads to port %q, want webhook", got)
	}
	if r, l := c.ReadinessProbe.HTTPGet, c.LivenessProbe.HTTPGet; r.Path != "/readyz" || l.Path != "/healthz" || r.Port.StrVal != "probes" || l.Port.StrVal != "probes" {
		t.Errorf("probes = %s and %s, want /readyz and /healthz on port probes", r.Path, l.Path)
	}
}

// The namespace enforces the restricted profile; the pod must fit it.
func TestThePodIsRestricted(t *testing.T) {
	spec, c := container(t)
	pod, own := spec.Template.Spec.SecurityContext, c.SecurityContext
	if !*pod.RunAsNonRoot || pod.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
		*own.AllowPrivilegeEscalation || !*own.ReadOnlyRootFilesystem || len(own.Capabilities.Drop) != 1 || own.Capabilities.Drop[0] != "ALL" {
		t.Errorf("security contexts %+v and %+v are not of the restricted profile", pod, own)
	}
	if got := only[*corev1.Namespace](t).Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
		t.Errorf("the namespace enforces %q, want restricted", got)
	}
	if c.Resources.Requests.Cpu().IsZero() || c.Resources.Requests.Memory().IsZero() || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("resources = %+v, want requests of cpu and memory and a limit of memory", c.Resources)
	}
}

// Go collects garbage harder before it comes to the limit of memory, which it
// knows by the environment alone.
func TestGoKnowsTheMemoryLimit(t *testing.T) {
	_, c := container(t)
	i := slices.IndexFunc(c.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" })
	if i < 0 {
		t.Fatal("GOMEMLIMIT is not set")
	}
	soft, err := resource.ParseQuantity(strings.TrimSuffix(c.Env[i].Value, "B"))
	if err != nil {
		t.Fatalf("GOMEMLIMIT=%s: %v", c.Env[i].Value, err)
	}
	if share := float64(soft.Value()) / float64(c.Resources.Limits.Memory().Value()); share < 0.75 || share > 0.9 {
		t.Errorf("GOMEMLIMIT is %s, %.2f of the limit %s, want 0.75 to 0.9 of it", c.Env[i].Value, share, c.Resources.Limits.Memory())
	}
}
